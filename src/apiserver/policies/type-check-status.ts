import { toError } from '../../core/errors.ts'
import { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import { numberAt } from '../../kinds/builtin/read-path.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { applyObject } from '../apply/field-manager.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { versionConverter } from '../storage/converting-store.ts'
import { typeCheck } from './type-check.ts'

/**
 * Writes into the status of policies what their expressions get wrong, as the controller manager of Kubernetes does.
 */
export interface TypeChecks {
  /** A policy is new or has changed. */
  saw(policy: ValidatingAdmissionPolicy): void
  /** Resolves when nothing is being checked; never rejects. */
  done(): Promise<void>
}

const MANAGER = 'validatingadmissionpolicy-status'
const WRITER = 'system:serviceaccount:kube-system:validatingadmissionpolicy-status-controller'

/** Checks policies one at a time, once `open` says that all kinds are known. */
export function startTypeChecks(
  parts: Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>,
  open: Promise<void>,
  signal: AbortSignal,
): TypeChecks {
  const { store, clock, log, registry } = parts
  const kind = ValidatingAdmissionPolicy
  let working = open

  /** Once per generation: what is served later does not change what was said. */
  async function check(name: string): Promise<void> {
    for (;;) {
      const stored = signal.aborted ? undefined : await readObject(store, kind, { name })
      if (!stored || !isUnchecked(stored.object)) return
      const { metadata } = stored.object
      const warnings = typeCheck(stored.object, registry.all())
      const status = {
        observedGeneration: metadata.generation,
        typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
      }
      const next = applyObject({
        kind,
        versions: versionConverter(registry, kind),
        live: stored.object,
        config: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name }, status },
        manager: MANAGER,
        force: true,
        subresource: 'status',
        now: clock.now(),
      })
      const audit = internalAuditLine({ clock }, WRITER, { kind, object: next, verb: 'update' })
      const key = storeKey(kind, metadata)
      if ((await store.commit({ key, expect: stored.revision, value: serializeObject(next), audit })).ok) return
    }
  }

  return {
    saw(policy) {
      if (!isUnchecked(policy)) return
      const { name } = policy.metadata
      working = working
        .then(() => check(name))
        .catch((error: unknown) => {
          if (!signal.aborted)
            log.error({ err: toError(error), policy: name }, 'types of a policy could not be checked')
        })
    },
    done: () => working,
  }
}

function isUnchecked({ metadata, ...policy }: ValidatingAdmissionPolicy): boolean {
  return (metadata.generation ?? 0) > numberAt(policy, 'status.observedGeneration')
}
