// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Rules for override policies. */
import { isObject } from '../../../core/json.ts'
import { labelKeyProblems, labelValueProblems } from '../../../core/text/name-validation.ts'
import { listIn, objectIn, textIn } from './problems.ts'
import type { Fields, Problems } from './problems.ts'
import { validateFieldSelector } from './validate-placement.ts'

const OVERRIDERS = [
  'plaintext',
  'imageOverrider',
  'commandOverrider',
  'argsOverrider',
  'labelsOverrider',
  'annotationsOverrider',
] as const

/** Adds the problems of the `spec` of an override policy. */
export function validateOverrides(spec: Fields, problems: Problems): void {
  validateFieldSelector(objectIn(spec, 'targetCluster'), 'spec.targetCluster', problems)
  if (spec['overrideRules'] !== undefined) {
    if (spec['targetCluster'] !== undefined) {
      problems.add('spec.targetCluster', 'overrideRules and targetCluster cannot be used together')
    }
    if (OVERRIDERS.some((field) => listIn(objectIn(spec, 'overriders'), field).length > 0)) {
      problems.add('spec.overriders', 'overrideRules and overriders cannot be used together')
    }
  }
  for (const [i, rule] of listIn(spec, 'overrideRules').entries()) {
    const path = `spec.overrideRules[${i}]`
    validateOverriders(objectIn(rule, 'overriders'), `${path}.overriders`, problems)
    validateFieldSelector(objectIn(rule, 'targetCluster'), `${path}.targetCluster`, problems)
  }
}

function validateOverriders(overriders: Fields, path: string, problems: Problems): void {
  for (const [i, one] of listIn(overriders, 'annotationsOverrider').entries()) {
    for (const key of Object.keys(objectIn(one, 'value'))) {
      problems.addAll(`${path}.annotationsOverrider[${i}].value`, labelKeyProblems(key.toLowerCase()))
    }
  }
  for (const [i, one] of listIn(overriders, 'labelsOverrider').entries()) {
    for (const [key, value] of Object.entries(objectIn(one, 'value'))) {
      problems.addAll(`${path}.labelsOverrider[${i}].value`, labelKeyProblems(key))
      problems.addAll(`${path}.labelsOverrider[${i}].value`, labelValueProblems(String(value)))
    }
  }
  for (const [i, one] of listIn(overriders, 'imageOverrider').entries()) {
    if (!isObject(one['predicate'])) continue
    validatePointer(textIn(one['predicate'], 'path'), `${path}.imageOverrider[${i}].predicate.path`, problems)
  }
  for (const [i, one] of listIn(overriders, 'fieldOverrider').entries()) {
    validateFieldOverrider(one, `${path}.fieldOverrider[${i}]`, problems)
  }
}

function validateFieldOverrider(overrider: Fields, path: string, problems: Problems): void {
  const json = listIn(overrider, 'json')
  const yaml = listIn(overrider, 'yaml')
  if (json.length > 0 && yaml.length > 0) problems.add(path, 'json and yaml cannot be used together')
  if (json.length === 0 && yaml.length === 0) problems.add(path, 'either json or yaml is required')
  validatePointer(textIn(overrider, 'fieldPath'), `${path}.fieldPath`, problems)
  for (const [field, operations] of [
    ['json', json],
    ['yaml', yaml],
  ] as const) {
    for (const [i, operation] of operations.entries()) {
      const where = `${path}.${field}[${i}]`
      validatePointer(textIn(operation, 'subPath'), `${where}.subPath`, problems)
      const isRemove = textIn(operation, 'operator') === 'remove'
      if (isRemove && operation['value'] !== undefined) problems.add(`${where}.value`, 'remove takes no value')
      if (!isRemove && operation['value'] === undefined) problems.add(`${where}.value`, 'a value is required')
    }
  }
}

function validatePointer(pointer: string, path: string, problems: Problems): void {
  if (pointer !== '' && !pointer.startsWith('/')) problems.add(path, `"${pointer}" must be empty or begin with "/"`)
}
