/**
 * Removes the values of Secrets from rendered objects and adds them again: objects are stored, sent and shown without
 * them.
 */
import { base64, utf8 } from '../core/bytes.ts'
import { isObject } from '../core/json.ts'
import { Secret } from '../core/secret.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { isSecret } from '../kinds/redact-secret.ts'
import { RenderFailure } from './bundle/render-failure.ts'

/** A Secret's `data`: base64 by key. */
export type SecretData = Readonly<Record<string, string>>

/** An object without its secret values, and the values. */
export interface ExtractedSecret {
  readonly object: UnknownObject
  readonly data?: Secret<SecretData>
}

/**
 * Removes the values of a Secret; `stringData` becomes `data`, as in the API server. Objects of all remaining kinds
 * stay unchanged.
 */
export function extractSecretData(object: UnknownObject): ExtractedSecret {
  if (!isSecret(object)) return { object }
  const { data: plain, stringData, ...rest } = object
  const data = {
    ...textsOf(object, plain, 'data'),
    ...mapValues(textsOf(object, stringData, 'stringData'), (text) => base64(utf8(text))),
  }
  return Object.keys(data).length === 0 ? { object } : { object: rest, data: new Secret(data) }
}

/** Adds the values again. */
export function restoreSecretData(object: UnknownObject, data: Secret<SecretData>): UnknownObject {
  return { ...object, data: { ...data.reveal() } }
}

function mapValues<T>(values: Readonly<Record<string, T>>, change: (value: T) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}

function textsOf({ metadata }: UnknownObject, field: unknown, name: string): Record<string, string> {
  if (field === undefined || field === null) return {}
  if (!isObject(field)) throw new RenderFailure(`Secret ${metadata.name}: ${name} is not a map of texts`)
  return Object.fromEntries(
    Object.entries(field).map(([key, value]) => {
      if (value === null) return [key, '']
      // The message must not contain the value.
      if (typeof value !== 'string') {
        throw new RenderFailure(`Secret ${metadata.name}: ${name}.${key} is not text; put it in quotes`)
      }
      return [key, value]
    }),
  )
}
