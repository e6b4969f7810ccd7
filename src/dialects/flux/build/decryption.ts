// Tested by src/dialects/flux/recorded.contract.test.ts.
/** `spec.decryption`: files and objects that SOPS encrypted, decrypted before and after the build as Flux does. */
import { fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { cleanPath, isRepositoryUrl, joinPath } from '../../../render/kustomize/loader.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { FILE_NAMES } from '../../../render/kustomize/target.ts'
import {
  decryptObject,
  describeBuiltObject,
  encryptionOf,
  filesWithMac,
  isSecretObject,
  macOf,
  ONLY_SECRETS,
} from '../../../render/sops/decrypt-object.ts'
import type { ObjectDecryption, SopsSourceFile } from '../../../render/sops/decrypt-object.ts'
import { decryptSops } from '../../../render/sops/decrypt-sops.ts'
import { SopsError } from '../../../render/sops/sops-error.ts'
import type { SopsFormat } from '../../../render/sops/sops-tree.ts'
import { formatForPath, hasMark } from '../../../render/sops/stores/stores.ts'
import { readFirstYaml, readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { FluxBuildError } from './flux-build-error.ts'

/** How a build decrypts. */
export type Decryption = Omit<ObjectDecryption, 'files'>

const MAX_DIRECTORIES = 10_000
const MAX_FILES = 100_000

/** The tree with the decrypted sources of generators and patches; throws FluxBuildError. */
export function withDecryptedSources(tree: FileTree, directory: string, decryption: Decryption): FileTree {
  const decrypted = new Map<string, Uint8Array>()
  for (const { full, ...source } of sourceFiles(tree, directory)) {
    if (decrypted.has(full)) continue
    const content = decryptFile(tree, full, source, decryption)
    if (content) decrypted.set(full, content)
  }
  if (decrypted.size === 0) return tree
  return {
    stat: (path) => tree.stat(path),
    list: (path) => tree.list(path),
    read: (path) => decrypted.get(path) ?? tree.read(path),
  }
}

/** The encrypted sources of generators and patches. */
function* encryptedSources(
  tree: FileTree,
  directory: string,
): Generator<{ readonly path: string; readonly use: SourceFile['use'] }> {
  for (const { full, format, use } of sourceFiles(tree, directory)) {
    if (tree.stat(full)?.kind !== 'file') continue
    const text = textIn(tree.read(full))
    if (text !== undefined && hasMark(text, format)) yield { path: full, use }
  }
}

/** The files that generators and patches of a build read, also of the kustomizations that it names. */
function* sourceFiles(tree: FileTree, directory: string): Generator<SourceFile & { readonly full: string }> {
  const visited = new Set<string>()
  const waiting = [directory]
  for (let at = waiting.pop(); at !== undefined && visited.size < MAX_DIRECTORIES; at = waiting.pop()) {
    if (visited.has(at)) continue
    visited.add(at)
    const file = kustomizationAt(tree, at)
    if (!file) continue
    for (const source of sourcesOf(file)) yield { ...source, full: pathBelow(at, source.path) }
    for (const entry of [...textsOf(file['resources']), ...textsOf(file['components'])]) {
      if (isRepositoryUrl(entry)) continue
      const next = pathBelow(at, entry)
      if (tree.stat(next)?.kind === 'directory') waiting.push(next)
    }
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
  readonly use: 'File' | 'Variables' | 'Patch'
}

function sourcesOf(file: JsonObject): SourceFile[] {
  const generated = objectsOf(file['secretGenerator']).flatMap((generator): SourceFile[] => [
    ...textsOf(generator['files']).map((entry) => {
      const [key = '', ...rest] = entry.split('=')
      return { path: rest.length === 0 ? key : rest.join('='), format: formatForPath(key), use: 'File' as const }
    }),
    ...[...textsOf(generator['envs']), ...textsOf([generator['env']])].map((path) => {
      const format = formatForPath(path)
      return { path, format: format === 'binary' ? ('dotenv' as const) : format, use: 'Variables' as const }
    }),
  ])
  const patches = [
    ...objectsOf(file['patches']).flatMap(({ path }) => textsOf([path])),
    ...textsOf(file['patchesStrategicMerge']).filter((entry) => !entry.includes('\n')),
    ...objectsOf(file['patchesJson6902']).flatMap(({ path }) => textsOf([path])),
  ].filter((path) => path !== '')
  return [...generated, ...patches.map((path) => ({ path, format: formatForPath(path), use: 'Patch' as const }))]
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
  { format, use }: Pick<SourceFile, 'format' | 'use'>,
  decryption: Decryption,
): Uint8Array | undefined {
  const fail = (message: string): never => {
    throw new FluxBuildError(`error decrypting sources: ${message}`)
  }
  const found = tree.stat(path)
  const shown = shownPath(path)
  if (!found) return fail(`lstat ${shown}: no such file or directory`)
  if (found.kind === 'directory') return fail('cannot decrypt irregular file as it has file mode type bits set')
  const text = textIn(tree.read(found.path))
  if (text === undefined || !hasMark(text, format)) return undefined
  try {
    const made = decryptSops(text, { input: format, output: format }, decryption)
    if (use === 'Patch' && decryption.secretsOnly && !isSecretPatch(made)) {
      return fail(`patch ${shown} is encrypted and is not for a Secret: ${ONLY_SECRETS}`)
    }
    return made
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    if (decryption.ring.wanted.size > 0) return undefined
    return fail(decryption.checkMac ? `${shown}: ${caught.message}` : caught.message)
  }
}

function isSecretPatch(content: Uint8Array): boolean {
  try {
    return readYaml(content, { duplicateKeys: 'last' }).every(({ value }) => isObject(value) && isSecretObject(value))
  } catch (caught) {
    if (caught instanceof YamlError) return false
    throw caught
  }
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}

/** Decrypts an object of a build, or returns it as it is; throws FluxBuildError. */
export function decryptBuilt(object: JsonObject, tree: FileTree, decryption: Decryption): JsonObject {
  try {
    return decryptObject(object, { ...decryption, files: () => filesOf(tree) })
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    // The build is repeated when the messages were opened.
    if (decryption.ring.wanted.size > 0) return object
    throw new FluxBuildError(`decryption failed for '${describeBuiltObject(object)}': ${caught.message}`)
  }
}

/** Throws FluxBuildError for files that an agent cannot decrypt after the build. */
export function refuseEncryptedSources(tree: FileTree, directory: string): void {
  for (const { path, use } of encryptedSources(tree, directory)) {
    if (use === 'File') continue
    const what = use === 'Patch' ? 'patch' : 'file of variables'
    throw new FluxBuildError(
      `${what} ${shownPath(path)} is encrypted, and an agent decrypts objects and whole files of Secrets: let the hub decrypt it`,
    )
  }
}

/** The files of encrypted objects of a build, which an agent decrypts; undefined if no object is encrypted. */
export function encryptedFiles(
  objects: readonly JsonObject[],
  { tree, checkMac }: { readonly tree: FileTree; readonly checkMac: boolean },
): ReadonlyMap<string, Uint8Array> | undefined {
  const files = new Map<string, Uint8Array>()
  const encrypted = objects.filter((object) => encryptionOf(object) !== undefined)
  for (const object of encrypted) {
    const mac = macOf(object)
    if (mac === undefined) continue
    const fail = (why: string): never => {
      throw new FluxBuildError(`decryption failed for '${describeBuiltObject(object)}': ${why}`)
    }
    if (!isSecretObject(object)) fail(`the object is encrypted and is no Secret: ${ONLY_SECRETS}`)
    if (!checkMac) continue
    const own = [...filesWithMac(mac, filesOf(tree))]
    if (own.length === 0) fail('MAC mismatch: no file of the source has the MAC of the object')
    for (const { path, bytes } of own) files.set(path, bytes)
  }
  return encrypted.length === 0 ? undefined : files
}

function* filesOf(tree: FileTree): Generator<SopsSourceFile> {
  const waiting = ['']
  let count = 0
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of tree.list(at === '' ? '/' : at)) {
      count += 1
      if (count > MAX_FILES) throw new SopsError(`the source has more than ${MAX_FILES} files`)
      const path = `${at}/${name}`
      if (tree.stat(path)?.kind === 'directory') waiting.push(path)
      else yield { path: shownPath(path), bytes: tree.read(path) }
    }
  }
}

/** The path in the Source. */
function shownPath(path: string): string {
  return path.split('/').slice(2).join('/')
}
