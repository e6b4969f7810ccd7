import { compact } from '../../core/compact.ts'
import { jsonClone } from '../../core/json.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import { trackUpdate } from '../apply/field-manager.ts'
import type { VerbResponse } from '../http/respond.ts'
import { commitChange } from './commit-change.ts'
import type { RequestContext } from '../server/context.ts'
import { decodeObjectOfKind } from '../http/decode-body.ts'
import { requireMatchingName, decodeAndDefault } from './receive-object.ts'
import { readObject } from '../storage/stored-object.ts'
import { checkPreconditions, writeOptions } from '../http/request-options.ts'
import { presentStored } from '../http/present.ts'
import { conflict, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { isCustom } from '../server/registry.ts'
import { objectVersion } from '../storage/resource-version.ts'
import { versionConverter } from '../storage/converting-store.ts'

/** PUT: replaces an object; metadata.resourceVersion is the compare-and-swap. */
export async function update(context: RequestContext): Promise<VerbResponse> {
  const { kind, http, query, request, parts } = context
  if (request.name === undefined) throw methodNotAllowed()
  const options = writeOptions('UpdateOptions', query, http)
  const { value, repeated } = decodeObjectOfKind(kind, http)
  const incoming = decodeAndDefault(kind, value, { repeated, validation: options.fieldValidation })
  requireMatchingName(context, incoming.object)
  const { uid } = incoming.object.metadata
  const resourceVersion = objectVersion(parts.store, incoming.object.metadata.resourceVersion)
  for (;;) {
    const key = compact({ name: request.name, namespace: request.namespace || undefined })
    const stored = await readObject(parts.store, kind, key)
    if (!stored) throw notFound(kind, request.name)
    checkPreconditions(kind, stored.object, uid ? { uid } : {})
    if (resourceVersion && resourceVersion !== '0') {
      if (resourceVersion !== stored.object.metadata.resourceVersion) throw conflict(kind, request.name)
    } else if (isCustom(kind)) {
      const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update')
      // The only refusal that names the resource instead of the kind.
      throw invalidObject({ group: kind.group, kind: kind.plural }, request.name, [error])
    }
    const result = await commitChange(context, {
      stored,
      next: jsonClone(incoming.object),
      dryRun: options.dryRun,
      track: (live, next) =>
        trackUpdate({
          kind,
          versions: versionConverter(parts.registry, kind),
          live,
          next,
          manager: options.fieldManager,
          subresource: request.subresource,
          now: parts.clock.now(),
        }),
    })
    if (!result.stale) {
      const warnings = [...incoming.warnings, ...result.warnings]
      return { status: 200, ...presentStored(context, result.object, result.text), warnings }
    }
    if (resourceVersion) throw conflict(kind, request.name)
  }
}
