/** Go's templates of policies, with the functions of Helm. Loaded with the first check: few clusters have one. */
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { TemplateEngine } from '../../plan/policy/policy-tools.ts'
import { GoError } from '../../render/gotemplate/function.ts'
import type { TemplateObjects } from '../../render/policy-template/cluster-lookup.ts'
import { templateEngine } from '../../render/policy-template/template-engine.ts'

/** Templates over the objects that an evaluation reads. */
export function policyTemplates({ clock, ids }: { readonly clock: Clock; readonly ids: Ids }) {
  const entropy = {
    randomBytes: ids.bytes,
    now: () => clock.now(),
    generateKey: () => {
      throw new GoError('keys cannot be generated in a policy')
    },
  }
  return (objects: TemplateObjects): TemplateEngine => templateEngine(objects, entropy)
}
