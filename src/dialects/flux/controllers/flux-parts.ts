import type { Blobs } from '../../../blobs/blobs.ts'
import type { Informers } from '../../../client/informers.ts'
import type { Ids } from '../../../core/ids.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { VariantsRequest, VariantsResult } from '../../../render/bundle/render-variants.ts'

/** The parts of the dialect's controllers. */
export interface FluxParts {
  readonly informers: Informers
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  /** Renders a Bundle. */
  readonly render: (request: VariantsRequest, signal: AbortSignal) => Promise<VariantsResult>
}
