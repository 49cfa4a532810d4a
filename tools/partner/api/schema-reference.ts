/** A schema of the same document. */
export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
