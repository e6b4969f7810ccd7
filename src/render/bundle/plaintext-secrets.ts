/** Finds and refuses Secrets whose values a repository contains as readable text. */
import { fromBase64 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import { plural } from '../../core/text/name-some.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import { RenderFailure } from './render-failure.ts'

/** A Secret with literal values, and the keys of these values. */
export interface PlaintextSecret {
  readonly name: string
  readonly keys: readonly string[]
}

const MOST_NAMED = 5

/**
 * Refuses Secrets whose content is in the repository. `written` is the content before templates were expanded: a value
 * with `${ }` comes from an input.
 */
export function refuseSecrets(written: readonly UnknownObject[]): void {
  const found = findPlaintextSecrets(written)
  if (found.length === 0) return
  const named = found
    .slice(0, MOST_NAMED)
    .map(({ name, keys }) => `Secret ${name} has its content (${keys.join(', ')})`)
  const more =
    found.length > MOST_NAMED
      ? ` and ${plural(found.length - MOST_NAMED, 'more Secret has its content', 'more Secrets have their content')}`
      : ''
  throw new RenderFailure(
    `${named.join(', ')}${more} in the repository, where every reader of the repository can read it; pass it from a Secret of the hub (spec.inputs), keep it in the cluster (External Secrets, Sealed Secrets, SOPS), or allow it: set spec.secrets of the Bundle to Allow, or annotate the Source, or the GitRepo or Application that made it, with flotilla.dev/secrets: Allow`,
    { plaintext: found.map(({ name }) => name) },
  )
}

/** Finds Secrets with literal values. Values in the form of SOPS are encrypted; a SealedSecret is another kind. */
export function findPlaintextSecrets(written: readonly UnknownObject[]): PlaintextSecret[] {
  return written.filter(isSecret).flatMap((object) => {
    const isOpen = isObject(object['sops']) ? (text: string) => !SOPS_VALUE.test(text) : () => true
    const keys = [
      ...literalKeys(object['data'], { textOf: fromData, isOpen }),
      ...literalKeys(object['stringData'], { textOf: String, isOpen }),
    ]
    return keys.length === 0 ? [] : [{ name: object.metadata.name, keys }]
  })
}

/** A value that SOPS encrypted. */
const SOPS_VALUE = /^ENC\[[A-Z0-9_]{1,32},data:[^,\]]*,iv:[^,\]]+,tag:[^,\]]+,type:[a-z]{1,16}\]$/

interface Reading {
  readonly textOf: (value: unknown) => string
  readonly isOpen: (text: string) => boolean
}

function literalKeys(field: unknown, { textOf, isOpen }: Reading): string[] {
  return Object.entries(isObject(field) ? field : {})
    .filter(([, value]) => !textOf(value).includes('${') && isOpen(String(value)))
    .map(([key]) => key)
}

// A generator writes base64, an author may write the text itself.
function fromData(value: unknown): string {
  const text = String(value)
  return `${text} ${new TextDecoder().decode(fromBase64(text))}`
}
