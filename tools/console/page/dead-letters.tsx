export const DeadLettersView = () => null;
