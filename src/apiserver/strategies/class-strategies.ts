import { jsonEqual } from '../../core/json.ts'
import { readPath } from '../../kinds/builtin/read-path.ts'
import { forbidden, invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { Strategy } from './strategy.ts'

/** Classes are named by what uses them: what a class means stays what it was. */

/** Refuses other values for fields, each in the words of its kind; without words, in the words of most fields. */
function keeping(fields: Readonly<Record<string, string | undefined>>): Strategy {
  return {
    validate: (object, old) => {
      if (!old) return []
      return Object.entries(fields).flatMap(([field, words]): FieldError[] => {
        const value = readPath(object, field)
        if (jsonEqual(value, readPath(old, field))) return []
        return [words === undefined ? invalid(field, value, 'field is immutable') : forbidden(field, words)]
      })
    },
  }
}

/** The strategies of classes, by group and kind. */
export const CLASS_STRATEGIES: Readonly<Record<string, Strategy>> = {
  'scheduling.k8s.io/PriorityClass': keeping({
    value: 'may not be changed in an update.',
    preemptionPolicy: undefined,
  }),
  'storage.k8s.io/StorageClass': keeping({
    parameters: undefined,
    provisioner: undefined,
    reclaimPolicy: undefined,
    volumeBindingMode: undefined,
  }),
  'node.k8s.io/RuntimeClass': keeping({ handler: undefined }),
  'networking.k8s.io/IngressClass': keeping({ 'spec.controller': undefined }),
}
