import { compact } from '../../core/compact.ts'
import type { Caller } from '../../core/http.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { RequestContext, ServerParts } from './context.ts'

/** A request the server makes of itself, to delete what belongs to something that goes. */
export function internalContext(
  parts: ServerParts,
  kind: Kind,
  where: { readonly namespace?: string | undefined; readonly signal: AbortSignal; readonly caller?: Caller },
): RequestContext {
  const { group, version, plural } = kind
  const { namespace, signal, caller = { user: 'system:apiserver', groups: ['system:masters'] } } = where
  return {
    parts,
    kind,
    signal,
    endsWith: [],
    caller,
    http: { method: 'DELETE', path: '', headers: {} },
    query: new URLSearchParams(),
    request: compact({ verb: 'delete', group, version, plural, namespace: namespace || undefined }),
    accept: { mediaType: 'application/json', pretty: false },
  }
}
