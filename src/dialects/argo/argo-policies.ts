// Tested by src/dialects/argo/served/application-set.sim.test.ts
/** What users may change of Applications that an ApplicationSet made. */
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import { shippedPolicy } from '../../kinds/policies/shipped-policy.ts'
import { Application, ARGO_GROUP } from './kinds.ts'
import { COMPILED, REFRESH, SYNC } from './annotations.ts'

const isSet = `o.kind == 'ApplicationSet' && o.apiVersion.startsWith('${ARGO_GROUP}/')`
const mapOf = (object: string, map: string) => `(has(${object}.metadata.${map}) ? ${object}.metadata.${map} : {})`
const compiledOf = (object: string) => `${mapOf(object, 'annotations')}[?'${COMPILED}'].orValue('')`

/** The hub writes the digest of what it compiled with each change, so that its own writes pass in both homes. */
const GENERATED_POLICY = shippedPolicy({
  name: 'applications-generated.argo.flotilla.dev',
  kind: Application,
  operations: ['UPDATE'],
  matchConditions: [
    {
      name: 'made-by-a-set',
      expression: `has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(o, ${isSet})`,
    },
  ],
  validations: [
    {
      expression: `${compiledOf('object')} != ${compiledOf('oldObject')} || (object.spec == oldObject.spec && ${mapOf('object', 'labels')} == ${mapOf('oldObject', 'labels')})`,
      messageExpression: `'Application ' + object.metadata.name + ' is made by ApplicationSet ' + oldObject.metadata.ownerReferences.filter(o, ${isSet})[0].name + '; change the ApplicationSet instead. Of a generated Application only operation and the annotations ${REFRESH} and ${SYNC} can be changed'`,
      reason: 'Invalid',
    },
  ],
})

export const ARGO_POLICIES: readonly ValidatingAdmissionPolicy[] = [GENERATED_POLICY]
