/** The builders of dialects, apart from their controllers, which the render thread does not load. */
import { ARGO_BUILDER, buildApplication } from './argo/build/argo-builder.ts'
import { buildForCluster } from './flux/build/flux-builder.ts'
import { buildPolicy } from './ocm/policy/served/hub-templates.ts'
import { buildRelease } from './flux/release/release-builder.ts'
import type { Builders } from '../render/bundle/builder.ts'

/** All builders: a Bundle that names one can be rendered also while the controllers of its dialect are off. */
export const DIALECT_BUILDERS: Builders = {
  [ARGO_BUILDER]: buildApplication,
  flux: buildForCluster,
  'ocm-policy': buildPolicy,
  'flux-helm': buildRelease,
}
