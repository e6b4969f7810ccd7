import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { REPORTED_FIELDS } from '../fields/report.ts'
import { flag, int, object, optional, text, time } from '../schema/schema-builders.ts'

export const ClusterReport = defineKind({
  kind: 'ClusterReport',
  plural: 'clusterreports',
  scope: 'Cluster',
  shortNames: ['fcr'],
  description:
    'Last report of the agent of a cluster. A ClusterReport has the name of its cluster and is written by the gateway when the reported state changes.',
  spec: object(
    {
      clusterId: text({ max: 64, min: 1, description: 'ID of the cluster, issued by the hub.' }),
      ...REPORTED_FIELDS,
      traffic: optional(
        object(
          {
            downBytes: int({ description: 'Number of bytes sent to the cluster.' }),
            upBytes: int({ description: 'Number of bytes received from the cluster.' }),
          },
          {
            description:
              'Traffic of requests and responses since the cluster joined. Updated only when the report changes for another reason.',
          },
        ),
      ),
      signed: optional(
        flag({
          description:
            'If true, the report carried a valid signature of the identity key of the cluster. If false, the report was unsigned: agents of version 0.1 do not sign. Absent on reports that a hub of version 0.1 stored.',
        }),
      ),
      receivedAt: time({ description: 'Time at which the gateway received the report.' }),
    },
    { description: 'Content of the report. Set by the gateway.' },
  ),
  columns: [
    { name: 'Revision', type: 'integer', jsonPath: '.spec.revision' },
    { name: 'Refusal', type: 'string', jsonPath: '.spec.refusal.reason' },
    { name: 'Received', type: 'date', jsonPath: '.spec.receivedAt' },
    { name: 'Signed', type: 'boolean', jsonPath: '.spec.signed', priority: 1 },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042' },
      spec: {
        clusterId: 'c-7h2k9q',
        epoch: 1,
        revision: 1,
        receivedAt: '2026-11-16T00:20:50Z',
        bundles: [
          {
            bundle: 'default/hello',
            generation: 1,
            set: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
            state: 'Ready',
          },
        ],
      },
    },
  ],
})
export type ClusterReport = ObjectOfKind<typeof ClusterReport>
