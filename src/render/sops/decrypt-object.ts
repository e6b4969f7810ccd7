/**
 * Objects with content that SOPS encrypted: a whole object, or a Secret with encrypted files in its `data`. Pure; the
 * hub decrypts with it in a build, and the agent decrypts what the hub left encrypted.
 */
import { base64, fromBase64, fromUtf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { KustomizeError } from '../kustomize/kustomize-error.ts'
import { plainValue } from '../kustomize/nodes/plain-value.ts'
import { readWrittenDocuments } from '../kustomize/resources/read-resources.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { decryptSops } from './decrypt-sops.ts'
import type { KeyRing } from './key-ring.ts'
import { SopsError } from './sops-error.ts'
import { detectFormat, formatForPath } from './stores/stores.ts'

/** A file of the Source. */
export interface SopsSourceFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** How an object is decrypted. */
export interface ObjectDecryption {
  readonly ring: KeyRing
  /** Refuses objects from files whose authentication code does not fit. Flux does not look at it. */
  readonly checkMac: boolean
  /** Refuses objects of kinds other than Secret, whose values the hub does not seal. */
  readonly secretsOnly: boolean
  /** Text in place of each decrypted value. */
  readonly mask?: string | undefined
  /** The files of the Source: the file of an object has its authentication code. */
  files(): Iterable<SopsSourceFile>
}

/** The reason for which only Secrets are decrypted. */
export const ONLY_SECRETS = 'only values of Secrets are sealed on their way to clusters'
const ENCRYPTED = 'ENC['
const DECRYPT_ANNOTATION = 'kustomize.toolkit.fluxcd.io/decrypt'

/** Decrypts an object, or returns the same object if nothing in it is encrypted; throws SopsError. */
export function decryptObject(object: JsonObject, decryption: ObjectDecryption): JsonObject {
  const kind = encryptionOf(object)
  if (kind === undefined) return object
  const metadata = metadataOf(object)
  if (kind === 'Fields') return { ...object, data: decryptData(object, metadata, decryption) }
  if (decryption.secretsOnly && !isSecretObject(object)) {
    throw new SopsError(`the object is encrypted and is no Secret: ${ONLY_SECRETS}`)
  }
  if (decryption.checkMac) checkFiles(macOf(object)!, decryption)
  return decryptWhole(object, metadata, decryption)
}

/** How an object is encrypted: as a whole, or files in the `data` of a Secret. */
export function encryptionOf(object: JsonObject): 'Whole' | 'Fields' | undefined {
  const { annotations } = metadataOf(object)
  const asked = isObject(annotations) ? annotations[DECRYPT_ANNOTATION] : undefined
  if (typeof asked === 'string' && asked.toLowerCase() === 'disabled') return undefined
  if (macOf(object) !== undefined) return 'Whole'
  if (object['kind'] !== 'Secret' || !isObject(object['data'])) return undefined
  return Object.values(object['data']).some((value) => encryptedText(value) !== undefined) ? 'Fields' : undefined
}

/** The authentication code of an object that SOPS encrypted as a whole. */
export function macOf({ sops }: JsonObject): string | undefined {
  const mac = isObject(sops) ? sops['mac'] : undefined
  return typeof mac === 'string' ? mac : undefined
}

/** The files with an authentication code, in whatever form it is written. */
export function* filesWithMac(mac: string, files: Iterable<SopsSourceFile>): Generator<SopsSourceFile> {
  for (const file of files) {
    const text = textOfBuild(file.bytes)
    // A text that has it in another form has an escape or a tag: it has neither spaces nor quotes.
    const canDiffer = text.includes('\\') || text.includes('!')
    if (text.includes(mac) || (canDiffer && encryptedIn(file.bytes).has(mac))) yield file
  }
}

/** The encrypted values of files that were read. */
const known = new WeakMap<Uint8Array, ReadonlySet<string>>()

/** The encrypted values in a file as a build reads it, its MAC among them; none in a file that a build cannot read. */
function encryptedIn(bytes: Uint8Array): ReadonlySet<string> {
  const found = known.get(bytes) ?? new Set(encryptedScalars(textOfBuild(bytes)))
  known.set(bytes, found)
  return found
}

function* encryptedScalars(text: string): Generator<string> {
  const waiting = withoutErrors(() => readWrittenDocuments(text)) ?? []
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (node?.kind === 'scalar') {
      const value = node.tag === '!!binary' ? withoutErrors(() => plainValue(node)) : node.value
      if (typeof value === 'string' && value.startsWith(ENCRYPTED)) yield value
    } else for (const child of node?.content ?? []) waiting.push(child)
  }
}

function withoutErrors<T>(step: () => T): T | undefined {
  try {
    return step()
  } catch (caught) {
    if (caught instanceof KustomizeError || caught instanceof YamlError) return undefined
    throw caught
  }
}

/** Whether an object is a Secret of the core group. */
export function isSecretObject({ kind, apiVersion = 'v1' }: JsonObject): boolean {
  return kind === 'Secret' && apiVersion === 'v1'
}

/** The text of a SOPS file in the `data` of a Secret. */
export function encryptedText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? textIn(fromBase64(value)) : undefined
  return text !== undefined && detectFormat(text) !== undefined ? text : undefined
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {}
}

function decryptWhole(object: JsonObject, metadata: JsonObject, decryption: ObjectDecryption): JsonObject {
  const formats = { input: 'json', output: 'json' } as const
  // The authentication code is that of the file; a build sorts and adds fields.
  const content = explained(`failed to decrypt and format '${placeOf(metadata)}' ${String(object['kind'])} data`, () =>
    decryptSops(JSON.stringify(object), formats, { ...decryption, checkMac: false }),
  )
  return JSON.parse(fromUtf8(content)) as JsonObject
}

function decryptData({ data }: JsonObject, metadata: JsonObject, decryption: ObjectDecryption): JsonObject {
  return Object.fromEntries(
    Object.entries(isObject(data) ? data : {}).map(([key, value]) => {
      const text = encryptedText(value)
      if (text === undefined) return [key, value]
      const made = explained(`failed to decrypt and format '${placeOf(metadata)}' Secret field '${key}'`, () =>
        decryptSops(text, { input: detectFormat(text)!, output: formatForPath(key) }, decryption),
      )
      return [key, base64(made)]
    }),
  )
}

function explained<T>(problem: string, step: () => T): T {
  try {
    return step()
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    throw new SopsError(`${problem}: ${caught.message}`)
  }
}

/** Checks the files that an object came from: those with its authentication code. */
function checkFiles(mac: string, decryption: ObjectDecryption): void {
  let isFound = false
  for (const { path, bytes } of filesWithMac(mac, decryption.files())) {
    const text = textIn(bytes)
    const format = text === undefined ? undefined : detectFormat(text)
    if (text === undefined || format === undefined)
      throw new SopsError(`${path} repeats the MAC of an encrypted file and is none`)
    explained(path, () => decryptSops(text, { input: format, output: format }, decryption))
    isFound ||= encryptedIn(bytes).has(mac)
  }
  if (!isFound) throw new SopsError('MAC mismatch: no file of the source has the MAC of the object')
}

/** The text that a build reads: a build accepts bytes that are no UTF-8. */
function textOfBuild(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}

function placeOf({ namespace, name }: JsonObject): string {
  return `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`
}

/** The object as Kustomize names it, for example `Secret.v1.[noGrp]/db`. */
export function describeBuiltObject({ apiVersion, kind, metadata }: JsonObject): string {
  const [version = '', group = '[noGrp]'] = String(apiVersion).split('/').toReversed()
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
  return `${String(kind)}.${version}.${group}/${name}`
}
