/** Secrets of any cluster, as far as they may be shown and spoken of. */
import { fromBase64 } from '../core/bytes.ts'
import { isObject } from '../core/json.ts'
import type { UnknownObject } from './meta.ts'

/** What stands in the place of a value that is not shown. */
const REDACTED_VALUE = '[sealed]'

// A shorter text is in too many sentences by chance, and tells too little where it is not.
const SHORTEST = 4

/** Whether an object is a Secret of the core API. */
export function isSecret({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return apiVersion === 'v1' && kind === 'Secret'
}

/** An object as it may be shown: the keys of a Secret, never its values. */
export function redactSecret(object: UnknownObject): UnknownObject {
  if (!isSecret(object)) return object
  const hidden = (field: 'data' | 'stringData') => {
    const values = object[field]
    if (!isObject(values)) return {}
    return { [field]: Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED_VALUE])) }
  }
  return { ...object, ...hidden('data'), ...hidden('stringData') }
}

/** A sentence about an object without any value of it, should it be a Secret: an API may repeat what it refuses. */
export function redactSecretValues(text: string, object: UnknownObject): string {
  if (!isSecret(object)) return text
  const plain = Object.values(isObject(object['stringData']) ? object['stringData'] : {}).map(String)
  const encoded = Object.values(isObject(object['data']) ? object['data'] : {}).map(String)
  return redactTexts(text, [
    ...plain,
    ...encoded,
    ...encoded.map((value) => new TextDecoder().decode(fromBase64(value))),
  ])
}

/** A sentence without these texts. */
export function redactTexts(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((value) => value.length >= SHORTEST)
    .toSorted((a, b) => b.length - a.length)
    .reduce((sentence, value) => sentence.replaceAll(value, () => REDACTED_VALUE), text)
}
