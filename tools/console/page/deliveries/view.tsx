export const DeliveriesView = () => null;
