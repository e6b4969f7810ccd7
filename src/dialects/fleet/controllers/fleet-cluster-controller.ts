import type { Informer } from '../../../client/informer.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller, ControllerOptions } from '../../../engine/controller.ts'
import { triggerOnObject } from '../../../engine/trigger.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { DEFAULT_WORKSPACE, WORKSPACE_LABEL } from '../compile/placement.ts'
import { FleetCluster } from '../kinds.ts'
import { fleetClusterReconciler } from './fleet-cluster.ts'

/** The field manager of what a Fleet Cluster sets on its Cluster. */
const MANAGER = 'dialect-fleet'

interface FleetClusterParts extends Pick<
  ControllerOptions<FleetCluster>,
  'client' | 'clock' | 'ids' | 'log' | 'metrics'
> {
  readonly clusters: Informer<Cluster>
  readonly faces: Informer<FleetCluster>
}

/** Creates the controller that keeps Fleet Clusters and Clusters of flotilla.dev equal. */
export function createFleetCluster({ clusters, faces, ...parts }: FleetClusterParts): Controller {
  const { client } = parts
  clusters.addIndex('fleet-face', aliases)
  return createController({
    ...parts,
    type: FleetCluster,
    informer: faces,
    reconciler: fleetClusterReconciler({
      aliased: (alias) => clusters.lister.by('fleet-face', alias)[0],
      named: (name) => clusters.lister.get(name),
      write: async (cluster, isNew, signal) => {
        const options = { fieldManager: MANAGER, signal }
        await (isNew ? client.create(Cluster, cluster, options) : client.update(Cluster, cluster, options))
      },
    }),
    triggers: [
      triggerOnObject(clusters, (cluster) => [
        ...aliases(cluster),
        `${cluster.metadata.labels?.[WORKSPACE_LABEL] ?? DEFAULT_WORKSPACE}/${cluster.metadata.name}`,
      ]),
    ],
  })
}

function aliases({ spec }: Cluster): string[] {
  return (spec.aliases ?? []).flatMap(({ dialect, name }) => (dialect === 'fleet' ? [name] : []))
}
