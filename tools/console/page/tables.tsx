export const TablesView = () => null;
