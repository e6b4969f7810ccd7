import { generateTraditionalKey } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import { renderInCluster } from '../../render/bundle/render-in-cluster.ts'
import type { ClusterRenderAnswer, ClusterRenderRequest } from '../../render/bundle/render-in-cluster.ts'
import type { RenderBudget } from '../../render/helm/render-limits.ts'

/** Sources of time and randomness, and the budget of the rendering. */
export interface RenderParts {
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'bytes'>
  readonly watch?: RenderBudget
}

/** Renders in the current thread: in the render thread, or in tests, where no chart is hostile. */
export function renderInPlace({ clock, ids, watch }: RenderParts) {
  const entropy = { randomBytes: ids.bytes, now: () => clock.now(), generateKey: generateTraditionalKey }
  return async (request: ClusterRenderRequest): Promise<ClusterRenderAnswer> =>
    renderInCluster(request, compact({ entropy, watch }))
}
