// Tested by src/dialects/fleet/controllers/registration.sim.test.ts
/** A ClusterRegistrationToken becomes a JoinToken for the workspace, and a Secret with the command that uses it. */
import { base64, fromBase64, fromUtf8, utf8 } from '../../../core/bytes.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { Stalled } from '../../../core/errors.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { formatJoinCode, parseJoinCode, tokenHash, tokenSecret } from '../../../wire/trust/join-code.ts'
import { WORKSPACE_LABEL } from '../compile/placement.ts'
import { ClusterRegistrationToken } from '../registration-kinds.ts'

/** How agents reach and recognise the hub. */
export interface JoinAddress {
  readonly endpoints: readonly string[]
  readonly root: Digest
}

/** The ports of the controller. */
export interface RegistrationTokenPorts {
  address(signal: AbortSignal): Promise<JoinAddress | undefined>
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  createSecret(secret: Secret, signal: AbortSignal): Promise<void>
  joinToken(name: string): JoinToken | undefined
  createJoinToken(token: JoinToken, signal: AbortSignal): Promise<void>
  removeJoinToken(name: string, signal: AbortSignal): Promise<void>
  remove(token: ClusterRegistrationToken, signal: AbortSignal): Promise<void>
}

const FINALIZER = 'fleet.flotilla.dev/join-token'
/** The type of the Secret in Fleet, whose key `values` users hand to the chart of Fleet's agent. */
const SECRET_TYPE = 'fleet.cattle.io/cluster-registration-values'
const CODE_KEY = 'join-code'
const DEFAULT_TTL_MS = 240 * 3_600_000
const MOST_USES = 100_000

export function registrationTokenReconciler(ports: RegistrationTokenPorts): Reconciler<ClusterRegistrationToken> {
  return {
    name: 'fleet-registration-token',
    async reconcile(draft: Draft<ClusterRegistrationToken>, context: Context): Promise<Result> {
      const { next: token, conditions } = draft
      const { signal } = context
      const name = joinTokenName(token)
      if (token.metadata.deletionTimestamp) {
        await ports.removeJoinToken(name, signal)
        token.metadata.finalizers = (token.metadata.finalizers ?? []).filter((one) => one !== FINALIZER)
        return {}
      }
      const expires = expiryOf(token)
      const leftMs = expires - context.clock.now()
      // As in Fleet, a token that expired goes with all that was made for it.
      if (leftMs <= 0) {
        await ports.remove(token, signal)
        return {}
      }
      if (!(token.metadata.finalizers ?? []).includes(FINALIZER)) {
        token.metadata.finalizers = [...(token.metadata.finalizers ?? []), FINALIZER]
        return {}
      }
      const secret = await secretFor(token, name, { ports, context })
      if (!ports.joinToken(name)) await ports.createJoinToken(joinTokenOf(token, { name, secret, expires }), signal)
      const status = (token.status ??= {})
      status.expires = formatTime(expires)
      status.secretName = token.metadata.name
      const { namespace = '' } = token.metadata
      conditions.set(
        'Ready',
        'True',
        'Ready',
        `The key join of Secret ${namespace}/${token.metadata.name} has the command that lets a cluster join; a person accepts it. Fleet's own agent cannot join.`,
      )
      return { requeueAfterMs: Math.min(leftMs, 24 * 3_600_000) }
    },
  }
}

function expiryOf({ metadata, spec }: ClusterRegistrationToken): number {
  const ttl = spec?.ttl ? (parseDuration(spec.ttl) ?? 0) : 0
  return (parseTime(metadata.creationTimestamp ?? '') ?? 0) + (ttl > 0 ? ttl : DEFAULT_TTL_MS)
}

/** One JoinToken for one object, also when an object of the same name is created again. */
function joinTokenName({ metadata }: ClusterRegistrationToken): string {
  const { name, namespace = '', uid = '' } = metadata
  const hash = digestOfJson([namespace, name, uid]).slice('sha256:'.length, 'sha256:'.length + 12)
  const letters = `${namespace}-${name}`.replaceAll('.', '-').slice(0, 40).replace(/-+$/, '')
  return `fleet-${letters}-${hash}`
}

interface Scene {
  readonly ports: RegistrationTokenPorts
  readonly context: Context
}

/** The secret of the JoinToken, from the Secret, which is written first: the hub itself keeps only a hash. */
async function secretFor(token: ClusterRegistrationToken, name: string, { ports, context }: Scene): Promise<string> {
  const { namespace = '', uid = '' } = token.metadata
  const present = await ports.secret(namespace, token.metadata.name, context.signal)
  if (present) {
    const isOwn = (present.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid)
    const secret = isOwn ? secretIn(present, name) : undefined
    if (secret !== undefined) return secret
    const message = `Secret ${namespace}/${token.metadata.name} exists and does not belong to this token.`
    throw new Stalled('NameTaken', message, { todo: 'delete the Secret, or choose another name' })
  }
  const address = await ports.address(context.signal)
  if (!address) throw new Error('the hub has not published its address yet')
  const secret = tokenSecret(context.ids.bytes(32))
  const code = formatJoinCode({ ...address, token: { name, secret } })
  await ports.createSecret(secretOf(token, code), context.signal)
  return secret
}

function secretIn({ data }: Secret, name: string): string | undefined {
  try {
    const { token } = parseJoinCode(fromUtf8(fromBase64(data?.[CODE_KEY] ?? '')))
    return token.name === name ? token.secret : undefined
  } catch {
    return undefined
  }
}

function secretOf(token: ClusterRegistrationToken, code: string): Secret {
  const { name, namespace = '', uid = '' } = token.metadata
  const join = `flotilla agent run --join ${code} --name NAME --kubeconfig ~/.kube/config --data ./agent-NAME`
  const values = [
    '# The chart fleet-agent does not work with this hub. Run in place of it, where kubectl reaches the cluster:',
    `#   ${join}`,
    `clusterNamespace: ${namespace}`,
    '',
  ].join('\n')
  const data = { values, join: `${join}\n`, [CODE_KEY]: code }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      ownerReferences: [
        { apiVersion: apiVersionOf(ClusterRegistrationToken), kind: ClusterRegistrationToken.kind, name, uid },
      ],
    },
    type: SECRET_TYPE,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(utf8(text))])),
  }
}

/** Clusters wait for a person: a holder of the code could ask for any free name. */
function joinTokenOf(
  { metadata }: ClusterRegistrationToken,
  { name, secret, expires }: { readonly name: string; readonly secret: string; readonly expires: number },
): JoinToken {
  return {
    apiVersion: apiVersionOf(JoinToken),
    kind: JoinToken.kind,
    metadata: { name },
    spec: {
      tokenHash: tokenHash(secret),
      namePattern: '*',
      expiresAt: formatTime(expires),
      uses: MOST_USES,
      labels: { [WORKSPACE_LABEL]: metadata.namespace ?? '' },
      accept: 'Manual',
    },
  }
}
