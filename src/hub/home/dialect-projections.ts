/** The projected kinds of dialects, apart from their controllers, which the threads of the API do not load. */
import { BUNDLE_DEPLOYMENTS } from '../../dialects/fleet/status/bundle-deployment.ts'
import { REPLICA_SET_WORKS } from '../../dialects/ocm/replica-sets/work-projection.ts'
import type { Projection } from '../../dialects/projection.ts'
import type { DialectName } from './dialect-names.ts'

const PROJECTIONS: Readonly<Record<DialectName, readonly Projection[]>> = {
  fleet: [BUNDLE_DEPLOYMENTS],
  ocm: [REPLICA_SET_WORKS],
  argo: [],
  flux: [],
  karmada: [],
}

/** The projected kinds of these dialects. */
export function dialectProjections(names: readonly DialectName[]): readonly Projection[] {
  return names.flatMap((name) => PROJECTIONS[name])
}
