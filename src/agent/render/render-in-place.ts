import { generateTraditionalKey } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import { renderInCluster } from '../../render/bundle/render-in-cluster.ts'
import type { ClusterRenderAnswer, ClusterRenderRequest } from '../../render/bundle/render-in-cluster.ts'
import type { RenderBudget } from '../../render/helm/render-limits.ts'

/** Where time and randomness come from. */
export interface RenderParts {
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'bytes'>
  readonly watch?: RenderBudget
}

/** Renders here and now: in the thread that was made for it, or where nothing hostile is rendered. */
export function renderInPlace({ clock, ids, watch }: RenderParts) {
  const entropy = { randomBytes: ids.bytes, now: () => clock.now(), generateKey: generateTraditionalKey }
  return async (request: ClusterRenderRequest): Promise<ClusterRenderAnswer> =>
    renderInCluster(request, { entropy, ...(watch ? { watch } : {}) })
}
