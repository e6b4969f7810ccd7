/** The annotation that allows plaintext Secrets in a repository. */
import type { KubeObject } from '../meta.ts'

/** The annotation of a Source, or of the object that a dialect compiles, for example a GitRepo. */
export const SECRETS_ANNOTATION = 'flotilla.dev/secrets'

/** Whether an object allows plaintext Secrets in its repository with the value `Allow`. */
export function allowsSecrets(object: { readonly metadata: Pick<KubeObject['metadata'], 'annotations'> }): boolean {
  return object.metadata.annotations?.[SECRETS_ANNOTATION] === 'Allow'
}
