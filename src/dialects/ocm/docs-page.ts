/** The generated part of docs/dialects/ocm.md. */
import { withFieldTables } from '../docs-tables.ts'
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
} from './addons/fields.ts'
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET, OCM_PLACEMENT } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withOcmTables(page: string): string {
  return withFieldTables(page, {
    'ManagedCluster.spec': MANAGED_CLUSTER,
    'ManagedClusterSet.spec': MANAGED_CLUSTER_SET,
    'Placement.spec': OCM_PLACEMENT,
    'ClusterManagementAddOn.spec': CLUSTER_MANAGEMENT_ADDON,
    'ManagedClusterAddOn.spec': MANAGED_CLUSTER_ADDON,
    'AddOnTemplate.spec': ADDON_TEMPLATE,
    'AddOnDeploymentConfig.spec': ADDON_DEPLOYMENT_CONFIG,
  })
}
