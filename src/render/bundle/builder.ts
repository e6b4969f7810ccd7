/**
 * Builders: functions of dialects that make objects from the files of a Source in another system's way. The renderer
 * knows them by name only; the hub and the CLI hand them in.
 */
import type { JsonObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { Secret } from '../../core/secret.ts'
import type { OpenedMessages } from '../sops/key-ring.ts'
import type { BuilderCall, ClusterDecryption, SopsKeys } from './recipe.ts'
import type { FrozenRecord } from '../helm/frozen-random.ts'
import type { ArtifactFiles, RenderDependencies } from './render-context.ts'
import { RenderFailure } from './render-failure.ts'
import type { TrackedInputs } from './track-reads.ts'

/** The inputs of a builder. */
export interface BuilderRequest {
  readonly files: ArtifactFiles
  /** The directory of the Bundle in the files; empty for all of them. */
  readonly path: string
  readonly options: JsonObject
  /** The values of `spec.inputs` by name. */
  readonly inputs: ReadonlyMap<string, unknown>
  readonly cluster: TrackedInputs
  readonly sops?: SopsKeys | undefined
  /** Leaves what SOPS encrypted as it is, because the agent has the keys. */
  readonly encrypted?: Pick<ClusterDecryption, 'checkMac'> | undefined
  /** Messages of OpenPGP that were opened before. */
  readonly openedMessages?: OpenedMessages | undefined
  /** What a chart is rendered with: randomness, limits and the values that were drawn before. */
  readonly charts: Pick<RenderDependencies, 'entropy' | 'frozen' | 'limits' | 'watch'>
}

/**
 * A build that needs messages of OpenPGP to be opened, which cannot be done in a pure function. The renderer opens them
 * and repeats the build.
 */
export class MessagesWanted extends Error {
  override readonly name = 'MessagesWanted'
  readonly messages: readonly string[]
  readonly armoredKeys: Secret<readonly string[]>

  constructor(messages: readonly string[], armoredKeys: readonly string[]) {
    super('messages of OpenPGP must be opened first')
    this.messages = messages
    this.armoredKeys = new Secret(armoredKeys)
  }
}

/** The objects of a build. */
export interface BuilderResult {
  readonly objects: readonly UnknownObject[]
  /** The objects as the repository has them, without values of inputs: a Secret with values among them is refused. */
  readonly written: readonly UnknownObject[]
  /** Notes for the user that are not errors. */
  readonly notes: readonly string[]
  /** The files of objects that stay encrypted; undefined if nothing in the objects is encrypted. */
  readonly encrypted?: ArtifactFiles | undefined
  /** Random values that charts drew. */
  readonly frozen?: FrozenRecord
}

/** Makes objects; throws RenderFailure. The same request gives the same objects. */
export type Builder = (request: BuilderRequest) => BuilderResult

/** Builders by name. */
export type Builders = Readonly<Record<string, Builder>>

/** The builder of a recipe; throws RenderFailure. */
export function builderOf({ name }: BuilderCall, builders: Builders): Builder {
  const found = Object.hasOwn(builders, name) ? builders[name] : undefined
  if (found) return found
  const names = Object.keys(builders)
  const known = names.length === 0 ? 'there is none' : `there is ${names.join(', ')}`
  throw new RenderFailure(`spec.builder.name is ${JSON.stringify(name)}, and there is no such builder; ${known}`)
}
