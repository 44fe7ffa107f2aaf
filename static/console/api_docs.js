// Swagger's page from the installed package, over our own OpenAPI document.
const place = document.getElementById("api");
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  tryItOutEnabled: false,
  validatorUrl: null,
});
