// What the pages' scripts use of packages that come without types.

declare module '@asyncapi/react-component/lib/esm/without-parser.js' {
  const AsyncApi: unique symbol;
  export default AsyncApi;
}

declare module 'redoc/src/components/RedocStandalone' {
  export const RedocStandalone: unique symbol;
}

declare module 'react' {
  export function createElement(type: symbol, properties: object): object;
}

declare module 'react-dom/client' {
  export function createRoot(place: HTMLElement): { render(element: object): void };
}
