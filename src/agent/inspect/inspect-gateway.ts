// Tested by src/cli/checks/agent-checks.test.ts
/** Checks whether a gateway answers, has a trusted certificate, and is the hub that the join code pinned. */
import type { Clock } from '../../core/time/clock.ts'
import { deadline } from '../../core/async/deadline.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import { readBody } from '../../core/http.ts'
import { parseHttpDate } from '../../core/time/time.ts'
import type { GatewayFacts } from '../../plan/fleet/agent-diagnostics.ts'
import { ROUTES, TrustAnswer } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { verifyRoot } from '../../wire/trust/trust-bundle.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { parseJson } from '../../wire/validate.ts'
import { createConnectHub } from '../link/connect-hub.ts'
import { REQUEST_TIMING } from '../timing.ts'
import { proxyFor } from '../link/proxy.ts'
import type { ProxyVariables } from '../link/proxy.ts'

/** The agent's trust, for the check of a gateway. */
export interface GatewayInspection {
  readonly root: Digest
  readonly trust: VerifiedTrust | undefined
  readonly proxyVariables: ProxyVariables
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Asks a gateway for its trust bundle, which needs no authentication. */
export async function inspectGateway(endpoint: string, inspection: GatewayInspection): Promise<GatewayFacts> {
  const { trust, proxyVariables } = inspection
  let found: GatewayFacts = { endpoint }
  try {
    const proxy = proxyFor(endpoint, proxyVariables)
    if (proxy !== undefined) found = { ...found, proxy: withoutPassword(proxy) }
    return { ...found, ...(await ask(endpoint, trust?.bundle.transportCas, inspection)) }
  } catch (caught) {
    const trouble = rootCause(caught)
    // The gateway may be the hub with a newer CA, or another server: the pinned root tells.
    const stranger = trust && (await ask(endpoint, undefined, inspection).catch(() => undefined))
    return stranger ? { ...found, ...stranger, isUnknownCa: true } : { ...found, trouble }
  }
}

async function ask(
  endpoint: string,
  cas: readonly string[] | undefined,
  { root, trust, proxyVariables, clock, signal }: GatewayInspection,
): Promise<Omit<GatewayFacts, 'endpoint'>> {
  const opened = createConnectHub((address) => proxyFor(address, proxyVariables))({ endpoint, cas })
  try {
    const path = `${ROUTES.trust}?after=${trust?.bundle.version ?? 0}`
    const asked = clock.now()
    const { headers, status, bytes } = await deadline(
      { clock, ms: REQUEST_TIMING.inspectMs, signal, what: `GET ${ROUTES.trust}` },
      async (inner) => {
        const response = await opened.transport({ method: 'GET', path, headers: {} }, inner)
        return { ...response, bytes: await readBody(response.body, LIMITS.trustBytes) }
      },
    )
    if (status !== 200) throw new Error(`unexpected status ${status}; check that the address is the gateway of a hub`)
    const said = headers['date'] === undefined ? undefined : parseHttpDate(headers['date'])
    const skew = said === undefined ? {} : { skewMs: said - (asked + clock.now()) / 2 }
    const answer = parseJson(TrustAnswer, bytes, { what: 'trust bundle', maxBytes: LIMITS.trustBytes })
    return { ...skew, newerTrust: answer.bundles.length, ...findOtherRoot(root, answer.root) }
  } finally {
    await opened.close()
  }
}

function findOtherRoot(pinned: Digest, root: string): Pick<GatewayFacts, 'otherRoot'> {
  try {
    verifyRoot(pinned, root)
    return {}
  } catch (caught) {
    return { otherRoot: toError(caught).message }
  }
}

/** The message of the innermost cause: `fetch failed` alone does not help the user. */
function rootCause(caught: unknown): string {
  const error = toError(caught)
  return error.cause instanceof Error ? rootCause(error.cause) : error.message
}

function withoutPassword(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}
