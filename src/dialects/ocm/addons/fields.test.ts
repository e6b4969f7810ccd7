import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingFields } from '../../docs-tables.ts'
import { ADDON_DEPLOYMENT_CONFIG, ADDON_TEMPLATE, CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from './fields.ts'
import { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

for (const [kind, table] of [
  [ClusterManagementAddOn, CLUSTER_MANAGEMENT_ADDON],
  [ManagedClusterAddOn, MANAGED_CLUSTER_ADDON],
  [AddOnTemplate, ADDON_TEMPLATE],
  [AddOnDeploymentConfig, ADDON_DEPLOYMENT_CONFIG],
] as const) {
  test(`the table has every field of a ${kind.kind}`, () => {
    assert.deepEqual(missingFields(kind.schema.properties?.['spec'], table), [])
  })
}
