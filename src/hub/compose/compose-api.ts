import { createApiServer } from '../../apiserver/server/api-server.ts'
import type { ApiServer } from '../../apiserver/server/api-server.ts'
import type { UserTokens } from '../../apiserver/tokens/authenticate.ts'
import type { TokenKeys } from '../../apiserver/tokens/jwt.ts'
import { compact } from '../../core/compact.ts'
import { HUB_BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import type { Store } from '../../store/store.ts'
import { COMPLIANCE_PURPOSE } from '../../kinds/fields/compliance-record.ts'
import { SERVED_TEMPLATE_KINDS } from '../../dialects/karmada/templates/template-kinds.ts'
import { createComplianceExport } from '../evidence/compliance-export.ts'
import { createEvidenceExport, storedHeads } from '../evidence/evidence-export.ts'
import type { DialectName } from '../home/dialect-names.ts'
import { dialectProjections } from '../home/dialect-projections.ts'
import type { HubPorts } from '../ports.ts'
import { hubViews, projectedView } from '../view/hub-views.ts'
import type { SetReader } from '../view/object-rows.ts'

/** The kinds the embedded home serves; it runs no workloads. */
export const HUB_KINDS: readonly Kind[] = [...HUB_BUILTIN_KINDS, ...NATIVE_KINDS]

/** What the embedded home's API is made of. */
export interface ApiParts extends HubPorts {
  readonly store: Store
  /** For tokens of service accounts, the first one signs; without them none are issued. */
  readonly tokenKeys?: TokenKeys
  /** Tokens of users of an OpenID Connect issuer; without them, none are accepted. */
  readonly userTokens?: UserTokens
  /** PEM of the CA of this API, for the `kube-root-ca.crt` of every namespace. */
  readonly rootCa?: string
  /** Names of the dialects whose projected kinds are served. */
  readonly dialects?: readonly DialectName[]
  /** Why the hub is not ready, for `/readyz`; undefined when all of its parts run. */
  readonly notReady?: () => string | undefined
  /** For the view of objects. */
  readonly blobs?: SetReader
}

/** The embedded home's API over a store. */
export function composeApi({ rootCa, blobs, dialects = [], ...parts }: ApiParts): ApiServer {
  return createApiServer({
    ...parts,
    // No controller of a hub runs workloads: they are templates for clusters.
    kinds: dialects.includes('karmada') ? [...HUB_KINDS, ...SERVED_TEMPLATE_KINDS] : HUB_KINDS,
    views: [
      ...hubViews(parts.clock, blobs),
      ...dialectProjections(dialects).map((projection) => projectedView(projection, parts.clock)),
    ],
    ...(blobs && {
      exports: [
        createEvidenceExport({ ...parts, blobs, heads: () => storedHeads(parts.store) }),
        createComplianceExport({ ...parts, blobs, heads: () => storedHeads(parts.store, COMPLIANCE_PURPOSE) }),
      ],
    }),
    ...compact({ namespaceDefaults: rootCa === undefined ? undefined : { rootCa } }),
  })
}
