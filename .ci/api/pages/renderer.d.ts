// What messages-client.ts uses of packages that come without types.

declare module '@asyncapi/react-component/lib/esm/without-parser.js' {
  const AsyncApi: unique symbol;
  export default AsyncApi;
}

declare module 'react' {
  export function createElement(type: symbol, properties: object): object;
}

declare module 'react-dom/client' {
  export function createRoot(place: HTMLElement): { render(element: object): void };
}
