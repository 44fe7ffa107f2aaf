// Swagger's page from the installed package, over our own OpenAPI document.
const place = document.getElementById("api");

// Swagger's parts without its own main, which would stand in the page's; and paths as texts: the
// button that opens an operation holds its path, and no link may be in a button.
const WithinPage = () => ({
  wrapComponents: {
    DeepLink: (Link, system) => (shown) => {
      const { createElement } = system.React;
      const isOperation = shown.path.includes("/");
      return isOperation ? createElement("span", null, shown.text) : createElement(Link, shown);
    },
    BaseLayout: (Layout, system) => (shown) => {
      const { createElement } = system.React;
      if (system.specSelectors.loadingStatus() !== "success") return createElement(Layout, shown);
      const part = (name) => createElement(system.getComponent(name, true));
      return createElement(
        "div", { className: "swagger-ui" },
        createElement(system.getComponent("SvgAssets")),
        part("errors"),
        createElement("div", { className: "scheme-container" }, part("AuthorizeBtnContainer")),
        part("operations"),
        part("Models"),
      );
    },
  },
});

// What readers by ear and by keyboard miss in Swagger's markup.
function mend() {
  for (const sample of place.querySelectorAll("pre.microlight:not([tabindex])")) {
    sample.tabIndex = 0; // long ones scroll
  }
  for (const table of place.querySelectorAll("table[role=region]")) table.removeAttribute("role");
  for (const choice of place.querySelectorAll("select:not([aria-label])")) {
    const parameter = choice.closest("[data-param-name]");
    choice.setAttribute("aria-label", parameter ? parameter.dataset.paramName : "Example");
  }
}

new MutationObserver(mend).observe(place, { childList: true, subtree: true });
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  plugins: [WithinPage],
  tryItOutEnabled: false,
  validatorUrl: null,
});
