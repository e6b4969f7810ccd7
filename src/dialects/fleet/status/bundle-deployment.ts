/** BundleDeployments: a bundle on a cluster in Fleet's API, computed for each request and never stored. */
import { kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { enumOf, name, object, text } from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { scopesOfDottedName } from '../../projection.ts'
import type { BundleStateRow, Projection } from '../../projection.ts'
import { BUNDLE_LABEL, HELM_OP_LABEL, makerOf, REPO_LABEL } from '../compile/desired-objects.ts'
import { FLEET_GROUP } from '../compile/read-git-repo.ts'
import { fleetState, STATES_WORST_FIRST } from './states.ts'

/** Fleet's BundleDeployment, in the namespace of its bundle. */
const BundleDeployment: Kind = kindOf({
  group: FLEET_GROUP,
  version: 'v1alpha1',
  kind: 'BundleDeployment',
  plural: 'bundledeployments',
  scope: 'Namespaced',
  description:
    'State of a bundle of a GitRepo, HelmOp or Bundle of Fleet on a cluster. A BundleDeployment is computed on request and read-only; it is in the namespace of the GitRepo, HelmOp or Bundle.',
  categories: [],
  verbs: ['get', 'list', 'watch'],
  selectable: ['bundle', 'cluster'],
  fields: {
    bundle: toStructural(name({ description: 'The bundle.' })),
    cluster: toStructural(name({ description: 'The Cluster.' })),
    status: toStructural(
      object({
        display: object({
          deployed: text({ max: 8192, description: 'True, or what is in the way.' }),
          monitored: text({ max: 64, description: 'Whether the cluster reports about it.' }),
          state: enumOf(STATES_WORST_FIRST),
        }),
        message: text({ max: 8192, description: 'Why, in one or two sentences.' }),
      }),
    ),
  },
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.cluster' },
    { name: 'Deployed', type: 'string', jsonPath: '.status.display.deployed' },
    { name: 'Monitored', type: 'string', jsonPath: '.status.display.monitored' },
    { name: 'State', type: 'string', jsonPath: '.status.display.state' },
    { name: 'Status', type: 'string', jsonPath: '.status.message', priority: 1 },
  ],
})

/** A BundleDeployment; undefined for a cluster that is not selected or not part of the fleet any more. */
function bundleDeploymentOf(row: BundleStateRow): UnknownObject | undefined {
  const { metadata, bundle, cluster, state, message, waitsFor, lastKnown, generation, target } = row
  const word = state && fleetState(state, { generation, target, waitsFor, lastKnown })
  if (word === undefined) return undefined
  const isDeployed = generation !== undefined && generation === target
  return {
    apiVersion: apiVersionOf(BundleDeployment),
    kind: BundleDeployment.kind,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace ?? '',
      labels: {
        'fleet.cattle.io/bundle-name': bundle.slice(0, 63),
        'fleet.cattle.io/bundle-namespace': metadata.namespace ?? '',
        'fleet.cattle.io/cluster': cluster.slice(0, 63),
      },
    },
    bundle,
    cluster,
    status: {
      display: {
        deployed: isDeployed ? 'True' : message || 'False',
        monitored: generation === undefined ? 'False' : 'True',
        state: word,
      },
      message,
    },
  }
}

/** BundleDeployments as a projection of the bundles of GitRepos. */
export const BUNDLE_DEPLOYMENTS: Projection = {
  kind: BundleDeployment,
  includes: ({ metadata }) =>
    [REPO_LABEL, HELM_OP_LABEL, BUNDLE_LABEL].some((label) => metadata.labels?.[label] !== undefined),
  objectOf: bundleDeploymentOf,
  within: (namespace) => ({ namespace }),
  named: scopesOfDottedName,
  makerOf(bundle) {
    const repository = makerOf(bundle)
    if (!repository) return bundle
    const { apiVersion, kind, name } = repository
    return { apiVersion, kind, metadata: { name, namespace: bundle.metadata.namespace ?? '' } }
  },
}
