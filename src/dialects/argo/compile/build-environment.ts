/** The build environment: the variables that Argo CD replaces in the options of a source. */
import type { ArgoSource } from '../application.ts'
import type { Application, ApplicationCompileContext } from './compile-application.ts'

/** Replaces `$NAME` and `${NAME}` in a text; `$$` is a dollar sign, and an unknown name is empty. */
export type Environment = (text: string) => string

/** What the variables are about. */
export interface EnvironmentScene {
  readonly app: Application
  readonly scene: Pick<ApplicationCompileContext, 'repositoryOf' | 'wrong'>
}

const NAME = /\$(?:\{([^{}]*)\}|([A-Za-z_][A-Za-z0-9_]*|[$*#@!?0-9-]))/g

/** The environment of a source; a variable that is not known at this time is reported. */
export function environmentOf(source: ArgoSource, { app, scene }: EnvironmentScene): Environment {
  const { repoURL = '', targetRevision = '', path = '' } = source
  const revision = (): string | undefined => scene.repositoryOf(repoURL, source.targetRevision)?.revision
  const known: Readonly<Record<string, () => string | undefined>> = {
    ARGOCD_APP_NAME: () => app.ownName,
    ARGOCD_APP_NAMESPACE: () => app.spec.destination?.namespace ?? '',
    ARGOCD_APP_PROJECT_NAME: () => app.project ?? '',
    ARGOCD_APP_REVISION: revision,
    ARGOCD_APP_REVISION_SHORT: () => revision()?.slice(0, 7),
    ARGOCD_APP_REVISION_SHORT_8: () => revision()?.slice(0, 8),
    ARGOCD_APP_SOURCE_PATH: () => path,
    ARGOCD_APP_SOURCE_REPO_URL: () => repoURL,
    ARGOCD_APP_SOURCE_TARGET_REVISION: () => targetRevision,
  }
  return (text) =>
    text.replaceAll(NAME, (_all, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare ?? ''
      if (name === '$') return '$'
      if (!Object.hasOwn(known, name)) return ''
      const value = known[name]!()
      if (value === undefined) scene.wrong(`${name} is the commit of the repository, which is not known here`)
      return value ?? ''
    })
}
