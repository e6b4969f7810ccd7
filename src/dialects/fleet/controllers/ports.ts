import type { Digest } from '../../../core/crypto/digest.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { BundleCompileContext } from '../compile/compile-bundle.ts'
import type { RolloutCounts } from '../status/states.ts'

/** What making a GitRepo's objects needs from the world. */
export interface GitRepoPorts {
  /** An object that is there, of one of the kinds that are made. */
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined
  /** Everything that was made for the GitRepo with this uid. */
  madeFor(uid: string): readonly { readonly kind: Kind; readonly object: KubeObject }[]
  apply(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  remove(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  sourceOf(namespace: string, name: string): Source | undefined
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Writes down where a Secret may be sent, unless somebody changed it meanwhile. */
  bind(secret: Secret, urls: string, context: Pick<Context, 'signal' | 'log'>): Promise<void>
  workspace(namespace: string): KnownWorkspace
  /** The files of an artifact; bytes of those that were asked for before. */
  filesOf(artifact: Digest): Promise<LazyFiles>
  bundleOf(namespace: string, name: string): Bundle | undefined
  /** How often counts are shown. */
  readonly statusThrottle: KeyedThrottle
  /** How the newest Release of a Bundle does. */
  countsOf(bundle: Bundle): RolloutCounts | undefined
}

/** A workspace, and what of it changes what targets mean. */
export type KnownWorkspace = BundleCompileContext['workspace'] & {
  /** Clusters that go by other names, with these. */
  readonly named: readonly (readonly [string, readonly string[]])[]
}

/** Files whose bytes are read when somebody asked for them. */
export interface LazyFiles {
  keys(): MapIterator<string>
  get(path: string): Uint8Array | undefined
  /** Reads what was asked for and not there; whether there was any. */
  load(): Promise<boolean>
}
