// Swagger's page from the installed package, over our own OpenAPI document.
const place = document.getElementById("api");

// The button that opens an operation holds its path: as a text, for no link may be in a button.
const PlainPaths = () => ({
  wrapComponents: {
    DeepLink: (Link, system) => (shown) => {
      const { createElement } = system.React;
      const isOperation = shown.path.includes("/");
      return isOperation ? createElement("span", null, shown.text) : createElement(Link, shown);
    },
  },
});

// What readers by ear and by keyboard miss in Swagger's markup.
function mend() {
  for (const part of place.querySelectorAll("main:not([role])")) {
    part.setAttribute("role", "group"); // the page's own main is around it
    part.setAttribute("aria-label", "Operations");
  }
  for (const sample of place.querySelectorAll("pre.microlight:not([tabindex])")) {
    sample.tabIndex = 0; // long ones scroll
  }
  for (const choice of place.querySelectorAll("[data-param-name] select:not([aria-label])")) {
    choice.setAttribute("aria-label", choice.closest("[data-param-name]").dataset.paramName);
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
  plugins: [PlainPaths],
  tryItOutEnabled: false,
  validatorUrl: null,
});
