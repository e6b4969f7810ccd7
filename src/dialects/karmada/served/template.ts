// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Gives a template of the hub the binding that its policy, or the workloads that need it, ask for. */
import { jsonEqual } from '../../../core/json.ts'
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Template } from '../templates/template-kinds.ts'
import { deletedPolicy } from './compile-binding.ts'
import { decideBinding } from './decide-claim.ts'
import type { ClaimFacts } from './decide-claim.ts'
import type { ServedBinding } from './kinds.ts'

/** Keeps a template until its clusters were told to remove it: a template that is missing is never a removal. */
const TEMPLATE_FINALIZER = 'karmada.flotilla.dev/template'

/** The ports of the reconciler. */
export interface TemplatePorts {
  /** The binding with the name that the template's binding has; it can be of another object. */
  bindingOf(template: Template): ServedBinding | undefined
  factsOf(template: Template): Pick<ClaimFacts, 'policies' | 'invalid' | 'overrides' | 'requiredBy'>
  createBinding(binding: ServedBinding, signal: AbortSignal): Promise<void>
  updateBinding(binding: ServedBinding, signal: AbortSignal): Promise<void>
  deleteBinding(binding: ServedBinding, signal: AbortSignal): Promise<void>
}

export function templateReconciler(name: string, ports: TemplatePorts): Reconciler<Template> {
  return {
    name,
    async reconcile(draft: Draft<Template>, { signal, log }): Promise<Result> {
      const template = draft.next
      const { metadata } = template
      const found = ports.bindingOf(template)
      if (found && !isOf(found, template)) {
        log.warn({ binding: found.metadata.name }, 'another object has the name of the binding, so this one is not run')
        return { unchanged: true }
      }
      const { finalizers = [] } = metadata
      const isHeld = finalizers.includes(TEMPLATE_FINALIZER)
      const release = (): Result => {
        if (!isHeld) return { unchanged: true }
        metadata.finalizers = finalizers.filter((one) => one !== TEMPLATE_FINALIZER)
        return {}
      }
      const decide = () => decideBinding({ template, binding: found, ...ports.factsOf(template) })
      if (metadata.deletionTimestamp !== undefined) {
        if (!found) return release()
        if (!isHeld || found.metadata.deletionTimestamp !== undefined) return { unchanged: true }
        // The policy can have changed right before the deletion.
        const last = decide()
        if (last && deletedPolicy(last) !== deletedPolicy(found)) await ports.updateBinding(last, signal)
        else await ports.deleteBinding(found, signal)
        return { unchanged: true }
      }
      const wanted = decide()
      if (!wanted) {
        if (!found) return release()
        if (found.metadata.deletionTimestamp === undefined) await ports.deleteBinding(found, signal)
        return { unchanged: true }
      }
      if (!isHeld) {
        metadata.finalizers = [...finalizers, TEMPLATE_FINALIZER]
        return {}
      }
      if (!found) await ports.createBinding(wanted, signal)
      else if (found.metadata.deletionTimestamp === undefined && !isSame(found, wanted)) {
        await ports.updateBinding(wanted, signal)
      }
      return { unchanged: true }
    },
  }
}

/** Whether a binding is of the object, also of one of the same name that was there before. */
function isOf({ spec }: ServedBinding, { apiVersion, kind, metadata }: Template): boolean {
  const { resource } = spec
  return resource.apiVersion === apiVersion && resource.kind === kind && resource.name === metadata.name
}

function isSame(a: ServedBinding, b: ServedBinding): boolean {
  return (
    jsonEqual(a.spec, b.spec) &&
    jsonEqual(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
    jsonEqual(a.metadata.annotations ?? {}, b.metadata.annotations ?? {})
  )
}
