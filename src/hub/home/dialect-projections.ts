/** The projected kinds of dialects, apart from their controllers, which the threads of the API do not load. */
import { BUNDLE_DEPLOYMENTS } from '../../dialects/fleet/status/bundle-deployment.ts'
import { KARMADA_WORKS } from '../../dialects/karmada/served/work-projection.ts'
import { REPLICA_SET_WORKS } from '../../dialects/ocm/replica-sets/work-projection.ts'
import type { AnyProjection } from '../../dialects/projection.ts'
import type { DialectName } from './dialect-names.ts'

const PROJECTIONS: Readonly<Record<DialectName, readonly AnyProjection[]>> = {
  fleet: [BUNDLE_DEPLOYMENTS],
  ocm: [REPLICA_SET_WORKS],
  argo: [],
  flux: [],
  karmada: [KARMADA_WORKS],
}

/** The projected kinds of these dialects. */
export function dialectProjections(names: readonly DialectName[]): readonly AnyProjection[] {
  return names.flatMap((name) => PROJECTIONS[name])
}
