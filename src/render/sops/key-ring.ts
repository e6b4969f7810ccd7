/** The keys of a build, and the data keys of files that they open. */
import { fromUtf8 } from '../../core/bytes.ts'
import type { Secret } from '../../core/secret.ts'
import { openAge, readIdentities } from './age.ts'
import type { AgeIdentity } from './age.ts'
import { CLOUD_SERVICES } from './metadata.ts'
import type { MasterKey, SopsMetadata } from './metadata.ts'
import { joinShares } from './shamir.ts'
import { SopsError } from './sops-error.ts'

/** What opening an OpenPGP message yielded: a data key, or why there is none. */
export type OpenedMessage = { readonly dataKey: Secret<Uint8Array> } | { readonly problem: string }

/** Messages of OpenPGP that were opened, by their text. Opening takes a package that works asynchronously. */
export type OpenedMessages = ReadonlyMap<string, OpenedMessage>

/** Keys, and the messages that were met and not opened yet. */
export interface KeyRing {
  readonly identities: readonly AgeIdentity[]
  /** Key files that cannot be read. */
  readonly problems: readonly string[]
  readonly opened: OpenedMessages
  readonly wanted: Set<string>
  /** Why messages that were not opened stay closed. */
  readonly unopened: string
  /** Texts that were decrypted, which no message may repeat. */
  readonly revealed: string[]
  /** The number of key agreements that may still be made. */
  budget: number
}

/** Key agreements take some 0.1 ms each. */
const MAX_AGREEMENTS = 20_000
const MAX_WANTED = 1_000

/** A ring; `secret` has the keys of a decryption Secret: `*.agekey` and `*.asc`. */
export function createKeyRing(
  secret: ReadonlyMap<string, string>,
  opened: OpenedMessages = new Map(),
  unopened = 'the message was not opened',
): KeyRing {
  const problems: string[] = []
  const identities = [...secret].flatMap(([name, text]) => {
    if (!name.endsWith('.agekey')) return []
    try {
      return readIdentities(text)
    } catch (caught) {
      if (!(caught instanceof SopsError)) throw caught
      problems.push(`key '${name}' of the decryption Secret: ${caught.message}`)
      return []
    }
  })
  return { identities, problems, opened, wanted: new Set(), unopened, revealed: [], budget: MAX_AGREEMENTS }
}

/** The armored OpenPGP keys of a decryption Secret. */
export function pgpKeysOf(secret: ReadonlyMap<string, string>): string[] {
  return [...secret].flatMap(([name, text]) => (name.endsWith('.asc') ? [text] : []))
}

type Part = { readonly key: Uint8Array } | { readonly failed: readonly (readonly [key: string, why: string])[] }

/** The data key of a file; throws SopsError with a line for each key. */
export function dataKeyOf({ groups, threshold }: SopsMetadata, ring: KeyRing): Uint8Array {
  const parts = groups.map((group) => partOf(group, ring))
  const keys = parts.flatMap((part) => ('key' in part ? [part.key] : []))
  if (groups.length === 1 && keys[0]) return keys[0]
  if (groups.length === 1 || keys.length < threshold) {
    throw new SopsError(failureText(parts, groups.length === 1 ? 0 : threshold))
  }
  return joinShares(keys)
}

function partOf(group: readonly MasterKey[], ring: KeyRing): Part {
  const failed: [string, string][] = []
  for (const master of group) {
    try {
      return { key: openKey(master, ring) }
    } catch (caught) {
      if (!(caught instanceof SopsError)) throw caught
      failed.push([master.name, caught.message])
    }
  }
  return { failed }
}

function openKey({ type, enc }: MasterKey, ring: KeyRing): Uint8Array {
  if (type === 'age') return openByAge(enc, ring)
  if (type === 'pgp') return openByPgp(enc, ring)
  throw new SopsError(
    `${CLOUD_SERVICES[type].name} is not supported: encrypt the file for a key of age or OpenPGP, too`,
  )
}

function openByAge(enc: string, ring: KeyRing): Uint8Array {
  if (ring.identities.length === 0) {
    const why = ring.problems.length === 0 ? 'there is no key *.agekey' : ring.problems.join(', ')
    throw new SopsError(`failed to load age identities: ${why}`)
  }
  try {
    return openAge(enc, ring.identities, () => {
      ring.budget -= 1
      if (ring.budget < 0) throw new SopsError(`the build needs more than ${MAX_AGREEMENTS} key agreements`)
    })
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    throw new SopsError(`failed to create reader for decrypting sops data key with age: ${caught.message}`)
  }
}

function openByPgp(enc: string, ring: KeyRing): Uint8Array {
  const message = enc.trim()
  const found = ring.opened.get(message)
  if (!found && ring.wanted.size < MAX_WANTED) ring.wanted.add(message)
  if (found && 'dataKey' in found) return found.dataKey.reveal()
  throw new SopsError(`could not decrypt data key with PGP key: ${found?.problem ?? ring.unopened}`)
}

const MESSAGE = /-----BEGIN PGP MESSAGE-----[\s\S]{1,65536}?-----END PGP MESSAGE-----/g

/** The OpenPGP messages in a text: of any format, also indented or with line ends as `\n`. */
export function pgpMessagesIn(bytes: Uint8Array): string[] {
  const text = decoded(bytes)
  if (!text.includes('-----BEGIN PGP MESSAGE-----')) return []
  const found = text.replaceAll('\\n', '\n').match(MESSAGE) ?? []
  return found.map((message) =>
    message
      .split('\n')
      .map((line) => line.trim())
      .join('\n'),
  )
}

function decoded(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes)
  } catch {
    return ''
  }
}

function failureText(parts: readonly Part[], threshold: number): string {
  const groups = parts.map((part, at) => {
    if ('key' in part) return `Group ${at}: SUCCESS`
    const keys = part.failed.map(([key, why]) => `  ${key}: FAILED\n    - | ${wrapped(why, 60).join('\n      | ')}`)
    return [`Group ${at}: FAILED`, ...keys].join('\n')
  })
  const count = parts.filter((part) => 'key' in part).length
  const why =
    threshold > 0
      ? `Recovery failed because the file was encrypted with a Shamir threshold of ${threshold}, but only ${count} part(s) were successfully recovered, one for each successful key group. In order for SOPS to recover the file, at least ${threshold} groups have to be successful. In order for a group to be successful, decryption has to succeed with any of the keys in that key group.`
      : 'Recovery failed because no master key was able to decrypt the file. In order for SOPS to recover the file, at least one key has to be successful, but none were.'
  const start = 'Failed to get the data key required to decrypt the SOPS file.'
  return [start, ...groups, wrapped(why, 75).join('\n')].join('\n\n')
}

/** The text in lines of at most this width, if its words allow it. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
