import { jsonEqual } from '../../core/json.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { Labels } from '../../core/text/label-selector.ts'
import { readPath, itemsAt, mapAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'

/**
 * What is wrong with the selector of a workload; the one rule about its spec that keeps it from adopting others' pods.
 */
export function selectorErrors(
  name: 'deployment' | 'statefulset' | 'daemonset',
): (object: UnknownObject, old: UnknownObject | undefined) => FieldError[] {
  return (object, old) => {
    const selector = mapAt(object, 'spec.selector')
    if (old && !jsonEqual(selector, mapAt(old, 'spec.selector'))) {
      return [invalid('spec.selector', selector, 'field is immutable')]
    }
    if (Object.keys(mapAt(selector, 'matchLabels')).length + itemsAt(selector, 'matchExpressions').length === 0) {
      return readPath(object, 'spec.selector') === undefined
        ? []
        : [invalid('spec.selector', selector, `empty selector is invalid for ${name}`)]
    }
    const labels = mapAt(object, 'spec.template.metadata.labels') as Labels
    if (matchesSelector(labels, selector)) return []
    return [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
  }
}
