/** `GET /agent/v1/trust`: the versions of the trust bundle that an agent lacks. */
import { readWholeNumber } from '../../core/read-number.ts'
import { base64 } from '../../core/bytes.ts'
import type { HttpResponse } from '../../core/http.ts'
import type { TrustAnswer } from '../../wire/link/frames.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import { LIMITS } from '../../wire/limits.ts'
import { trustVersionOf, writePublicKey } from '../../wire/trust/trust-bundle.ts'
import { jsonResponse } from '../responses.ts'
import type { GatewayRequest } from './route.ts'

export function createTrustHandler(trust: () => Pick<HubTrust, 'root' | 'envelopes'>) {
  return ({ parameters }: GatewayRequest): HttpResponse => {
    // An agent that sends no number gets all versions.
    const after = readWholeNumber(parameters.get('after') ?? '0') ?? 0
    const { root, envelopes } = trust()
    const newer = envelopes.filter((envelope) => trustVersionOf(envelope) > after)
    const bundles = newer.slice(0, LIMITS.trustVersions).map((envelope) => base64(envelope))
    const answer: TrustAnswer = { root: writePublicKey(root.publicKey), bundles }
    return jsonResponse(answer)
  }
}
