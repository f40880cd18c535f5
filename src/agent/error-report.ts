/** Why a run failed or stopped, complete without any model: text and Markdown, for a person and for a developer. */
export interface ErrorReport {
  readonly person: ReportTexts;
  readonly developer: ReportTexts;
}

export interface ReportTexts {
  readonly text: string;
  readonly markdown: string;
}
