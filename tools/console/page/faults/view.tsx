export const FaultsView = () => null;
