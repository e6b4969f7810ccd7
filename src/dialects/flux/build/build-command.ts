// Tested by src/cli/commands/flux/flux.contract.test.ts.
/** `flux build kustomization` as one function: files and objects in, the printed text out. */
import { fromBase64, fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { buildFluxKustomization, builtText } from './build-kustomization.ts'
import type { BuiltObject } from './build-kustomization.ts'
import { commandOutput, nestedKustomizations } from './command-output.ts'
import { FluxBuildError } from './flux-build-error.ts'
import { findKustomization } from './flux-kustomization.ts'
import type { FluxKustomization } from './flux-kustomization.ts'

/** What the command is given. */
export interface BuildCommandInput {
  readonly name: string
  readonly namespace: string
  /** The text and the name of the file with the Kustomization. */
  readonly text: string
  readonly file: string
  readonly tree: FileTree
  /** The absolute directory to build. */
  readonly directory: string
  /** The ConfigMaps and Secrets of `substituteFrom`; without them it is not looked at. */
  readonly objects?: readonly JsonObject[]
  readonly strict: boolean
  readonly ignorePaths: readonly string[]
  /** Also build the Kustomizations of the build, whose sources are these directories by `Kind/namespace/name`. */
  readonly localSources?: ReadonlyMap<string, string>
  /** Receives notes for the user that are not errors. */
  readonly note: (text: string) => void
  /** Makes the path of a nested build absolute. */
  readonly resolve: (path: string) => string
}

const MAX_BUILDS = 1_000

/** Builds and prints; throws FluxBuildError. */
export function buildCommandText(input: BuildCommandInput): string {
  const { objects, localSources } = input
  const printed: BuiltObject[] = []
  const waiting = [{ kustomization: findKustomization(input.text, input), directory: input.directory }]
  for (let next = waiting.shift(), count = 0; next; next = waiting.shift(), count += 1) {
    if (count > MAX_BUILDS) throw new FluxBuildError(`more than ${MAX_BUILDS} Kustomizations are nested`)
    const { kustomization, directory } = next
    const built = buildFluxKustomization({
      kustomization,
      directory,
      tree: input.tree,
      strict: input.strict,
      ignorePaths: input.ignorePaths,
      decode: decodeText,
      note: input.note,
      ...(objects && { read: (kind, name) => objects.find((object) => isNamed(object, kind, name, kustomization)) }),
    })
    printed.push(...commandOutput(built, kustomization))
    for (const nested of localSources ? nestedKustomizations(built, localSources) : []) {
      waiting.push({ ...nested, directory: input.resolve(nested.directory) })
    }
  }
  return builtText(printed)
}

function decodeText(base64: string): string | undefined {
  try {
    return fromUtf8(fromBase64(base64))
  } catch {
    return undefined
  }
}

function isNamed(object: JsonObject, kind: string, name: string, { namespace }: FluxKustomization): boolean {
  const { metadata } = object
  if (object['kind'] !== kind || !isObject(metadata)) return false
  return metadata['name'] === name && (metadata['namespace'] ?? 'default') === namespace
}
