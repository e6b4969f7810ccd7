import type { Client } from '../client/client.ts'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { EventRecorder } from '../engine/event-recorder.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import type { Caches } from './caches.ts'

/** What every controller is made of. */
export interface ControllerParts {
  /** The client whose writes the caches know at once. */
  readonly client: Client
  readonly caches: Caches
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  readonly events?: EventRecorder
}

/**
 * A kind for a controller that is not the one to say that a generation was looked at: without its schema, by which the engine knows
 * that the status has a field for that.
 */
export function unobserved<T extends KubeObject>(type: ResourceType<T>): ResourceType<T> {
  const { group, version, kind, plural, scope } = type
  return { group, version, kind, plural, scope }
}
