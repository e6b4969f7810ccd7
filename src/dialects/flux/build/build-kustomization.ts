// Tested by src/dialects/flux/recorded.contract.test.ts.
/** What Flux makes of a Kustomization and the files of its source, before it applies the objects. */

import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { buildKustomization } from '../../../render/kustomize/build.ts'
import { KustomizeError } from '../../../render/kustomize/kustomize-error.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import type { Resource } from '../../../render/kustomize/resources/resource.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { ignoredInBuild } from './build-files.ts'
import { FluxBuildError } from './flux-build-error.ts'
import { decryptBuilt, refuseEncryptedSources, withDecryptedSources } from './decryption.ts'
import type { Decryption } from './decryption.ts'
import { withFluxKustomization } from './kustomization-file.ts'
import type { FluxKustomization } from './flux-kustomization.ts'
import { isSubstitutionDisabled, postBuildSubstitution } from './post-build.ts'
import type { PostBuildOptions, Substitution } from './post-build.ts'

/** What a build reads. */
export interface FluxBuildInput extends PostBuildOptions {
  readonly kustomization: FluxKustomization
  readonly tree: FileTree
  /** The absolute directory of `spec.path` in the tree. */
  readonly directory: string
  /**
   * Patterns of files below the directory that are left out, besides the patterns of `.sourceignore` files. Without it
   * no file is left out: an artifact of a source lacks these files already.
   */
  readonly ignorePaths?: readonly string[]
  /** Receives notes for the user that are not errors. */
  readonly note?: (text: string) => void
  /** Remote bases that were fetched beforehand. */
  readonly remotes?: ReadonlyMap<string, string>
  /** Decrypts what SOPS encrypted; without it nothing is decrypted. */
  readonly decryption?: Decryption
  /** Leaves encrypted objects to an agent, and refuses what must be decrypted before the build. */
  readonly leavesEncrypted?: boolean
}

/** An object of a build: YAML's own values, mappings as Maps in the order of their keys. */
export type BuiltObject = Map<string, unknown>

/** Builds a Kustomization; throws FluxBuildError. */
export function buildFluxKustomization(input: FluxBuildInput): BuiltObject[] {
  const { kustomization, tree, directory, ignorePaths, remotes, decryption, leavesEncrypted } = input
  const isIgnored = ignorePaths ? ignoredInBuild(tree, directory, ignorePaths, input.note) : () => false
  const generated = withFluxKustomization(tree, directory, kustomization, isIgnored)
  if (leavesEncrypted) refuseEncryptedSources(generated, directory)
  const readable = decryption ? withDecryptedSources(generated, directory, decryption) : generated
  const resources = kustomizeStep(() =>
    buildKustomization(
      readable,
      directory,
      compact({
        allowOutside: true,
        order: 'fifo',
        // Flux is built with Kustomize's library, which does not know its version.
        version: '(devel)',
        remotes,
      }),
    ),
  ).resources
  // The objects of substituteFrom are read for the first resource that needs them, whose name an error says.
  let collected: { readonly replace: Substitution | undefined } | undefined
  const substitution = (): Substitution | undefined => {
    collected ??= { replace: postBuildSubstitution(kustomization, input) }
    return collected.replace
  }
  const textOf = (resource: Resource): string =>
    kustomizeStep(() => (decryption ? decryptedText(resource, tree, decryption) : resource.toYaml()))
  return resources.map((resource) => substituted(resource, textOf(resource), substitution))
}

function kustomizeStep<T>(step: () => T): T {
  try {
    return step()
  } catch (caught) {
    if (caught instanceof YamlError) throw new FluxBuildError(`kustomize build failed: ${caught.goMessage}`)
    if (!(caught instanceof KustomizeError)) throw caught
    throw new FluxBuildError(`kustomize build failed: ${caught.message}`, { cause: caught })
  }
}

function decryptedText(resource: Resource, tree: FileTree, decryption: Decryption): string {
  const object = JSON.parse(resource.toJson()) as unknown
  if (!isObject(object)) return resource.toYaml()
  const decrypted = decryptBuilt(object, tree, decryption)
  return decrypted === object ? resource.toYaml() : writeYaml(decrypted)
}

function substituted(resource: Resource, text: string, substitution: () => Substitution | undefined): BuiltObject {
  const fail = (message: string): never => {
    throw new FluxBuildError(`var substitution failed for '${resource.name}': ${message}`)
  }
  if (isSubstitutionDisabled(resource.labels, resource.annotations)) return readObject(text, fail)
  let replaced: string | undefined
  try {
    replaced = substitution()?.(text)
  } catch (caught) {
    if (!(caught instanceof FluxBuildError)) throw caught
    return fail(caught.message)
  }
  if (replaced === undefined) return readObject(text, fail)
  // The text becomes JSON on its way back, so large integers lose digits.
  return readObject(replaced, (message) => fail(`envsubst error: YAMLToJSON: ${message}`), 'number')
}

function readObject(
  text: string,
  fail: (message: string) => never,
  integers: 'number' | 'bigint' = 'bigint',
): BuiltObject {
  try {
    const { value } = readFirstYaml(text, { duplicateKeys: 'last', mappings: 'map', integers })
    return value instanceof Map ? (value as BuiltObject) : fail('the object is not a mapping')
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    return fail(caught.goMessage)
  }
}

/** The text of objects, each followed by a separator, as `flux build kustomization` prints them. */
export function builtText(objects: readonly BuiltObject[]): string {
  return kustomizeStep(() => objects.map((object) => `${writeYaml(object)}---\n`).join(''))
}
