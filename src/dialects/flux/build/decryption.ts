// Tested by src/dialects/flux/recorded.contract.test.ts.
/** `spec.decryption`: files and objects that SOPS encrypted, decrypted before and after the build as Flux does. */
import { base64, fromBase64, fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { cleanPath, isRepositoryUrl, joinPath } from '../../../render/kustomize/loader.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { FILE_NAMES } from '../../../render/kustomize/target.ts'
import { decryptSops } from '../../../render/sops/decrypt-sops.ts'
import type { KeyRing } from '../../../render/sops/key-ring.ts'
import { SopsError } from '../../../render/sops/sops-error.ts'
import type { SopsFormat } from '../../../render/sops/sops-tree.ts'
import { detectFormat, formatForPath, hasMark } from '../../../render/sops/stores/stores.ts'
import { readFirstYaml, readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { FluxBuildError } from './flux-build-error.ts'
import { KUSTOMIZE_GROUP } from './flux-kustomization.ts'

/** How a build decrypts. */
export interface Decryption {
  readonly ring: KeyRing
  /** Refuses files whose authentication code does not fit. Flux does not look at it. */
  readonly checkMac: boolean
  /** Refuses objects and patches of kinds other than Secret, whose values the hub does not seal. */
  readonly secretsOnly: boolean
  /** Text in place of each decrypted value. */
  readonly mask?: string | undefined
}

const MAX_DIRECTORIES = 10_000
const MAX_FILES = 100_000

/** The tree with the decrypted sources of generators and patches; throws FluxBuildError. */
export function withDecryptedSources(tree: FileTree, directory: string, decryption: Decryption): FileTree {
  const decrypted = new Map<string, Uint8Array>()
  const visited = new Set<string>()
  const waiting = [directory]
  for (let at = waiting.pop(); at !== undefined && visited.size < MAX_DIRECTORIES; at = waiting.pop()) {
    if (visited.has(at)) continue
    visited.add(at)
    const file = kustomizationAt(tree, at)
    if (!file) continue
    for (const { path, format, isPatch } of sourcesOf(file)) {
      const full = pathBelow(at, path)
      if (decrypted.has(full)) continue
      const content = decryptFile(tree, full, { format, isPatch }, decryption)
      if (content) decrypted.set(full, content)
    }
    for (const entry of [...textsOf(file['resources']), ...textsOf(file['components'])]) {
      if (isRepositoryUrl(entry)) continue
      const next = pathBelow(at, entry)
      if (tree.stat(next)?.kind === 'directory') waiting.push(next)
    }
  }
  if (decrypted.size === 0) return tree
  return {
    stat: (path) => tree.stat(path),
    list: (path) => tree.list(path),
    read: (path) => decrypted.get(path) ?? tree.read(path),
  }
}

function pathBelow(directory: string, path: string): string {
  return path.startsWith('/') ? cleanPath(path) : joinPath(directory, path)
}

function kustomizationAt(tree: FileTree, directory: string): JsonObject | undefined {
  const name = FILE_NAMES.find((candidate) => tree.stat(joinPath(directory, candidate))?.kind === 'file')
  if (name === undefined) return undefined
  try {
    const { value } = readFirstYaml(tree.read(joinPath(directory, name)), { duplicateKeys: 'last' })
    return isObject(value) ? value : undefined
  } catch (caught) {
    // The build says what is wrong with the file.
    if (caught instanceof YamlError) return undefined
    throw caught
  }
}

interface SourceFile {
  readonly path: string
  readonly format: SopsFormat
  readonly isPatch: boolean
}

function sourcesOf(file: JsonObject): SourceFile[] {
  const generated = objectsOf(file['secretGenerator']).flatMap((generator): SourceFile[] => [
    ...textsOf(generator['files']).map((entry) => {
      const [key = '', ...rest] = entry.split('=')
      return { path: rest.length === 0 ? key : rest.join('='), format: formatForPath(key), isPatch: false }
    }),
    ...[...textsOf(generator['envs']), ...textsOf([generator['env']])].map((path) => {
      const format = formatForPath(path)
      return { path, format: format === 'binary' ? ('dotenv' as const) : format, isPatch: false }
    }),
  ])
  const patches = [
    ...objectsOf(file['patches']).flatMap(({ path }) => textsOf([path])),
    ...textsOf(file['patchesStrategicMerge']).filter((entry) => !entry.includes('\n')),
    ...objectsOf(file['patchesJson6902']).flatMap(({ path }) => textsOf([path])),
  ].filter((path) => path !== '')
  return [...generated, ...patches.map((path) => ({ path, format: formatForPath(path), isPatch: true }))]
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function decryptFile(
  tree: FileTree,
  path: string,
  { format, isPatch }: Pick<SourceFile, 'format' | 'isPatch'>,
  decryption: Decryption,
): Uint8Array | undefined {
  const fail = (message: string): never => {
    throw new FluxBuildError(`error decrypting sources: ${message}`)
  }
  const found = tree.stat(path)
  const shown = path.split('/').slice(2).join('/')
  if (!found) return fail(`lstat ${shown}: no such file or directory`)
  if (found.kind === 'directory') return fail('cannot decrypt irregular file as it has file mode type bits set')
  const text = textIn(tree.read(found.path))
  if (text === undefined || !hasMark(text, format)) return undefined
  try {
    const made = decryptSops(text, { input: format, output: format }, decryption)
    if (isPatch && decryption.secretsOnly && !isSecretPatch(made)) {
      return fail(`patch ${shown} is encrypted and is not for a Secret: ${ONLY_SECRETS}`)
    }
    return made
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    if (decryption.ring.wanted.size > 0) return undefined
    return fail(decryption.checkMac ? `${shown}: ${caught.message}` : caught.message)
  }
}

const ONLY_SECRETS = 'only values of Secrets are sealed on their way to clusters'

function isSecretPatch(content: Uint8Array): boolean {
  try {
    return readYaml(content, { duplicateKeys: 'last' }).every(({ value }) => isObject(value) && isSecretObject(value))
  } catch (caught) {
    if (caught instanceof YamlError) return false
    throw caught
  }
}

function isSecretObject({ kind, apiVersion = 'v1' }: JsonObject): boolean {
  return kind === 'Secret' && apiVersion === 'v1'
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}

/** Decrypts an object of a build, or returns it as it is; throws FluxBuildError. */
export function decryptObject(object: JsonObject, tree: FileTree, decryption: Decryption): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {}
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {}
  const asked = annotations[`${KUSTOMIZE_GROUP}/decrypt`]
  if (typeof asked === 'string' && asked.toLowerCase() === 'disabled') return object
  try {
    if (isObject(object['sops']) && typeof object['sops']['mac'] === 'string') {
      if (decryption.secretsOnly && !isSecretObject(object)) {
        throw new SopsError(`the object is encrypted and is no Secret: ${ONLY_SECRETS}`)
      }
      if (decryption.checkMac) checkFiles(object['sops']['mac'], tree, decryption)
      return decryptWhole(object, metadata, decryption)
    }
    return object['kind'] === 'Secret' && isObject(object['data'])
      ? { ...object, data: decryptData(object['data'], metadata, decryption) }
      : object
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    // The build is repeated when the messages were opened.
    if (decryption.ring.wanted.size > 0) return object
    throw new FluxBuildError(`decryption failed for '${idOf(object)}': ${caught.message}`)
  }
}

function decryptWhole(object: JsonObject, metadata: JsonObject, decryption: Decryption): JsonObject {
  const formats = { input: 'json', output: 'json' } as const
  // The authentication code is that of the file; a build sorts and adds fields.
  const content = explained(`failed to decrypt and format '${placeOf(metadata)}' ${String(object['kind'])} data`, () =>
    decryptSops(JSON.stringify(object), formats, { ...decryption, checkMac: false }),
  )
  return JSON.parse(fromUtf8(content)) as JsonObject
}

function decryptData(data: JsonObject, metadata: JsonObject, decryption: Decryption): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const text = typeof value === 'string' ? textIn(fromBase64(value)) : undefined
      const input = text === undefined ? undefined : detectFormat(text)
      if (text === undefined || input === undefined) return [key, value]
      const made = explained(`failed to decrypt and format '${placeOf(metadata)}' Secret field '${key}'`, () =>
        decryptSops(text, { input, output: formatForPath(key) }, decryption),
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
function checkFiles(mac: string, tree: FileTree, decryption: Decryption): void {
  let isFound = false
  for (const path of filesOf(tree)) {
    const text = textIn(tree.read(path))
    if (text === undefined || !text.includes(mac)) continue
    const format = detectFormat(text)
    const shown = path.split('/').slice(2).join('/')
    if (format === undefined) throw new SopsError(`${shown} repeats the MAC of an encrypted file and is none`)
    explained(shown, () => decryptSops(text, { input: format, output: format }, decryption))
    isFound = true
  }
  if (!isFound) throw new SopsError('MAC mismatch: no file of the source has the MAC of the object')
}

function* filesOf(tree: FileTree): Generator<string> {
  const waiting = ['']
  let count = 0
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of tree.list(at === '' ? '/' : at)) {
      count += 1
      if (count > MAX_FILES) throw new SopsError(`the source has more than ${MAX_FILES} files`)
      const path = `${at}/${name}`
      if (tree.stat(path)?.kind === 'directory') waiting.push(path)
      else yield path
    }
  }
}

function placeOf({ namespace, name }: JsonObject): string {
  return `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`
}

/** As Kustomize names an object. */
function idOf({ apiVersion, kind, metadata }: JsonObject): string {
  const [version = '', group = '[noGrp]'] = String(apiVersion).split('/').toReversed()
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
  return `${String(kind)}.${version}.${group}/${name}`
}
