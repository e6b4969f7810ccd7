import type { Client } from '../../client/client.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { EventRecorder } from '../../engine/event-recorder.ts'
import type { Caches } from './caches.ts'

/** The parts that each controller factory gets. */
export interface ControllerParts {
  /** The client whose writes the caches see at once. */
  readonly client: Client
  readonly caches: Caches
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  readonly events?: EventRecorder
  /** The tenant of a key: tenants take turns in all queues. */
  readonly laneOf?: (key: string) => string
}
