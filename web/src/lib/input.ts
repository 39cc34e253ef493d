// InputError is something that a page finds wrong with what was written, before it asks the server. Its text is for people.
export class InputError extends Error {}
