/** `GET /agent/v1/agent-bundle/DIGEST`: the agent's program, for machines that start without it. */
import { isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { HttpResponse } from '../../core/http.ts'
import { bytesResponse, notFound } from '../responses.ts'
import type { GatewayRequest } from './route.ts'

/** Finds the agent's program by digest. */
export type AgentBundle = (digest: Digest) => Promise<Uint8Array | undefined>

export function createAgentBundleHandler(agentBundle: AgentBundle | undefined) {
  return async ({ name }: GatewayRequest): Promise<HttpResponse> => {
    const bytes = isDigest(name) ? await agentBundle?.(name) : undefined
    if (!bytes) throw notFound()
    return bytesResponse(bytes, 'text/javascript')
  }
}
