/** Generates the Applications of an ApplicationSet, as Argo CD does. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { compareStrings } from '../../../render/gotemplate/go-string.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import { APPLICATION_SET } from '../types/applicationset-shape.ts'
import { APPLICATION } from '../types/application-shape.ts'
import type { GenerateInputs } from './generate-inputs.ts'
import { runGenerators, unknownGenerators } from './generators.ts'
import type { GeneratorScene } from './generators.ts'
import { GenerateBudget } from './limits.ts'
import { createTextRenderer } from './render-text.ts'
import type { Parameters, TextRenderer } from './render-text.ts'
import { decode, encode, fillShape, textField } from '../types/shape.ts'
import { patchApplication } from './template-patch.ts'
import { templateFunctions } from './template-functions.ts'

/** The Applications, sorted by name, and what the author should know. */
export interface GeneratedApplications {
  readonly applications: readonly JsonObject[]
  readonly warnings: readonly string[]
}

interface SetSpec {
  readonly goTemplate?: boolean
  readonly goTemplateOptions?: readonly string[]
  readonly generators?: readonly JsonObject[]
  readonly template?: JsonObject
  readonly templatePatch?: string
  readonly syncPolicy?: { readonly preserveResourcesOnDeletion?: boolean }
}

const FINALIZER = 'resources-finalizer.argocd.argoproj.io'

/** Generates; an error is an ApplicationSetError, and then there are no Applications. */
export function generateApplications(set: unknown, inputs: GenerateInputs): GeneratedApplications {
  const { metadata = {}, spec = {} } = decode(set, APPLICATION_SET) as {
    readonly metadata?: { readonly namespace?: string }
    readonly spec?: SetSpec
  }
  const unknown = unknownGenerators(isObject(set) && isObject(set['spec']) ? set['spec']['generators'] : undefined)
  const budget = new GenerateBudget(inputs.limits)
  const renderer = createTextRenderer(
    { isGo: spec.goTemplate === true, options: spec.goTemplateOptions ?? [] },
    templateFunctions(inputs.entropy),
    budget,
  )
  const template = spec.template ?? {}
  const project = (template['spec'] as JsonObject | undefined)?.['project']
  const scene: GeneratorScene = { inputs, renderer, budget, project: typeof project === 'string' ? project : '' }
  const applications = explained(unknown, () =>
    (spec.generators ?? []).flatMap((entry) =>
      runGenerators(entry, scene, { template }).flatMap((generated) =>
        generated.sets.flatMap((parameters) =>
          tolerant(inputs, () =>
            applicationOf(generated.template, parameters, {
              spec,
              renderer,
              namespace: metadata.namespace ?? inputs.namespace,
            }),
          ),
        ),
      ),
    ),
  )
  return { applications: applications.toSorted(byName), warnings: unknown }
}

/** One Application, or none when its error is received. */
function tolerant({ onProblem }: GenerateInputs, make: () => JsonObject): JsonObject[] {
  try {
    return [make()]
  } catch (caught) {
    if (!onProblem || !(caught instanceof ApplicationSetError)) throw caught
    onProblem(caught.message)
    return []
  }
}

/** An error of an entry without a known generator says which one was meant. */
function explained<T>(unknown: readonly string[], run: () => T): T {
  try {
    return run()
  } catch (caught) {
    if (!(caught instanceof ApplicationSetError) || unknown.length === 0) throw caught
    throw new ApplicationSetError(`${unknown.join('; ')} (${caught.message})`, { cause: caught })
  }
}

function byName(a: JsonObject, b: JsonObject): number {
  const name = (one: JsonObject): string => textField(one['metadata'] as JsonObject, 'name')
  return compareStrings(name(a), name(b))
}

function applicationOf(
  template: JsonObject,
  parameters: Parameters,
  {
    spec,
    renderer,
    namespace,
  }: { readonly spec: SetSpec; readonly renderer: TextRenderer; readonly namespace: string },
): JsonObject {
  const filled = filledTemplate(template, parameters, { spec, renderer })
  const patched =
    spec.templatePatch === undefined
      ? filled
      : patchApplication(
          filled,
          withContext('error replacing values in templatePatch', () =>
            renderer.render(spec.templatePatch!, parameters),
          ),
        )
  const metadata = { ...(patched['metadata'] as JsonObject | undefined), namespace }
  const encoded = encode({ ...patched, metadata }, APPLICATION) as JsonObject
  return { ...encoded, apiVersion: 'argoproj.io/v1alpha1', kind: 'Application' }
}

function filledTemplate(
  template: JsonObject,
  parameters: Parameters,
  { spec, renderer }: { readonly spec: SetSpec; readonly renderer: TextRenderer },
): JsonObject {
  // Argo CD takes a set without parameters for none: the template stays as it is.
  if (parameters.size === 0) return template
  // Bytes that are no text are replaced when an Application is written.
  const text = (template: string): string => renderer.render(template, parameters).toWellFormed()
  const filled = fillShape(template, APPLICATION, { text }) as JsonObject
  const metadata = (filled['metadata'] ?? {}) as JsonObject
  const finalizers = (metadata['finalizers'] ?? []) as readonly string[]
  if (finalizers.length > 0 || spec.syncPolicy?.preserveResourcesOnDeletion === true) return filled
  return { ...filled, metadata: { ...metadata, finalizers: [FINALIZER] } }
}
