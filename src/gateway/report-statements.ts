// Tested by src/gateway/signed-reports.contract.test.ts
/** Verifies the signed statement beside a report against the report, its cluster and the reports before it. */
import type { Digest } from '../core/crypto/digest.ts'
import { ApiError } from '../core/errors.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { INSTANCE_HEADER } from '../wire/link/frames.ts'
import { openReportStatement, STATEMENT_HEADER } from '../wire/link/report-statement.ts'
import type { ReportStatement } from '../wire/link/report-statement.ts'
import { trustedKey } from '../wire/trust/envelope.ts'
import { readPublicKey } from '../wire/trust/trust-bundle.ts'
import { WireError } from '../wire/validate.ts'
import type { GatewayRequest } from './routes/route.ts'

/** Creates the verifier; `root` is the key id of the hub's root key. */
export function createReportStatements(root: () => Digest) {
  /** Cluster id → the newest accepted statement. */
  const newest = new Map<string, Pick<ReportStatement, 'instance' | 'sequence'>>()

  return {
    /** The statement of a report; undefined for agents that do not sign. Throws if the statement is wrong. */
    verify({ spec }: Cluster, digest: Digest, headers: GatewayRequest['headers']): ReportStatement | undefined {
      const envelope = headers[STATEMENT_HEADER]
      if (envelope === undefined) return undefined
      const statement = openReportStatement(envelope, trustedKey(readPublicKey(spec.identityKey)))
      const refuse = (why: string) => new WireError('BadSignature', `report statement: ${why}`)
      if (statement.root !== root()) throw refuse(`the statement is for the hub with root key ${statement.root}`)
      if (statement.clusterId !== spec.id)
        throw refuse(`the statement is of cluster ${statement.clusterId}, not of ${spec.id}`)
      if (statement.report !== digest)
        throw refuse(`the statement is about the report ${statement.report}, and the body has digest ${digest}`)
      if (statement.instance !== headers[INSTANCE_HEADER])
        throw refuse(`the statement is of agent instance ${statement.instance}, and another instance sent it`)
      const last = newest.get(spec.id)
      if (last?.instance === statement.instance && statement.sequence < last.sequence) {
        throw new ApiError(
          'Conflict',
          `the report has number ${statement.sequence}; the agent has already sent number ${last.sequence}`,
        )
      }
      return statement
    },
    /** The report of this statement is stored: older statements are replays from now on. */
    accept({ clusterId, instance, sequence }: ReportStatement): void {
      newest.set(clusterId, { instance, sequence })
    },
    forget: (clusterId: string) => newest.delete(clusterId),
  }
}
