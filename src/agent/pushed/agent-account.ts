/**
 * The service account of an agent that the hub runs: created in the cluster with the user's credential, and from then
 * on the only identity that the agent acts under.
 */
import { clientOver } from '../../client/create-client.ts'
import type { Rest } from '../../client/rest.ts'
import { isApiError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { parseTime } from '../../core/time/time.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import type { KubeObject } from '../../kinds/meta.ts'

/** The account, and the objects that make it up: its namespace, itself and its rights. */
export interface AgentAccount {
  readonly namespace: string
  readonly name: string
  readonly objects: readonly KubeObject[]
}

export interface AccountToken {
  readonly token: Secret<string>
  readonly expiresAt: number
}

/** API servers issue shorter tokens as they are configured. */
const ASKED_SECONDS = 30 * 86_400
const FIELD_MANAGER = 'flotilla-agent'

/** Creates what is missing of the account; the caller may create service accounts and bind roles. */
export async function createAccount(rest: Rest, { objects }: AgentAccount, signal: AbortSignal): Promise<void> {
  const client = clientOver(rest)
  for (const object of objects) {
    const type = builtinKind(object.apiVersion, object.kind)
    await client.apply(type, object, { fieldManager: FIELD_MANAGER, force: true, signal })
  }
}

/** Asks for a token of the account. */
export async function requestToken(
  rest: Rest,
  { namespace, name }: AgentAccount,
  signal: AbortSignal,
): Promise<AccountToken> {
  const answer = await rest.json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: ASKED_SECONDS },
    },
    signal,
  })
  const status = isObject(answer) && isObject(answer['status']) ? answer['status'] : {}
  const { token, expirationTimestamp } = status
  const expiresAt = typeof expirationTimestamp === 'string' ? parseTime(expirationTimestamp) : undefined
  if (typeof token !== 'string' || expiresAt === undefined)
    throw new Error('the cluster answered a TokenRequest without a token')
  return { token: new Secret(token), expiresAt }
}

/** What tells this cluster from the rest; undefined where it cannot be read. */
export async function clusterUid(rest: Rest, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await clientOver(rest).get(Namespace, { name: 'kube-system' }, signal)).metadata.uid
  } catch (caught) {
    if (isApiError(caught, 'NotFound', 'Forbidden')) return undefined
    throw caught
  }
}
