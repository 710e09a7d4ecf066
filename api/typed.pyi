# Made from the settings of the benchmarks: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/api/test_typed.py
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Required, TypedDict, Unpack, overload

from ..core.share import Unfinished
from ..negatives.mine_questions import MinedQuestions
from .build import DryRun
from .outputs import Output

class _CausalOptions(TypedDict, total=False):
    annotations: Required[Path | str]
    columns: str | Sequence[str]  # ()
    videos: Path | str | None  # None
    fps_map: Path | str | None  # None
    offsets: Path | str | None  # None
    released_offsets: Path | str | None  # None
    splits: str | Sequence[str]  # ('ud', 'ps', 'un')
    ps_by: Literal['frames', 'rows']  # 'frames'
    negatives: Literal['hard', 'random']  # 'hard'
    balance: Literal['strict', 'none']  # 'strict'
    style: Literal['one', 'keep']  # 'one'
    num_options: int  # 5
    top_k: int  # 10
    alpha: float  # 1.0
    beta: float  # 0.001
    tau: float  # 0.85
    same_question: float  # 0.9
    same_text: float  # 0.9
    max_lend: float  # 1.2
    ties: Literal['drawn', 'id']  # 'drawn'
    confuse: int  # 2
    twins: Literal['balanced', 'right']  # 'balanced'
    cast: Path | str | None  # None
    llm_base_url: Path | str | None  # None
    llm_model: Path | str | None  # None
    title: str | None  # None
    licence: str | None  # None
    homepage: str | None  # None
    cite: Path | str | None  # None
    description: str | None  # None
    render: bool  # True
    crf: int  # 23
    preset: Literal['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower', 'veryslow']  # 'veryfast'
    audio: Literal['drop', 'keep']  # 'drop'
    seed: int  # 0
    split: Literal['train', 'validation', 'test', 'all']  # 'all'
    limit: int | None  # None
    allow_missing: bool  # False
    max_skip: float  # 0.01
    version: str  # '1.3.0'
    model: Path | str | None  # None
    pool: Literal['split', 'all']  # 'split'
    imitate_release: bool  # False
    rank_by: Literal['own', 'explanation']  # 'own'
    keep_apart: bool  # True
    apart_frames: int  # 50
    out: Path | str | None  # None
    workers: int | None  # None
    executor: Literal['auto', 'inline', 'processes', 'ray']  # 'auto'
    ray_address: Path | str | None  # None
    withhold: Path | str | None  # None
    resume: bool  # True
    check_space: bool  # True
    progress: bool  # True

@overload
def build_causal(*, dry_run: Literal[False] = False, shard: None = None, **options: Unpack[_CausalOptions]) -> Output:
    """Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.

    Each division becomes a config (`ud`, `ps`, `un`) of a Parquet dataset that datasets.load_dataset opens, next
    to `causal_confusion`, `open_ended` and `clips`. Distractors are the correct options of similar questions.

    Args:
        annotations: Annotations.csv of CausalChaos, a CSV or JSON Lines file with the same columns, or `sample`
            for the built-in sample.
        columns: Names of columns in your file that differ from the defaults, such as question=Q,answer=A.
        videos: Folder with the episodes, if different from the folder with the annotations.
        fps_map: File with the frame rate at which the annotated frames of each episode were counted: lines such
            as S01E01=23.976, or JSON. Frames are then located by time instead of by number.
        offsets: CSV file with the columns Episode and Offset (frames to add for your copies), or with your own
            frame numbers in the layout of Video_synchonization_frames.csv.
        released_offsets: The released Video_synchonization_frames.csv, if `offsets` has that layout.
        splits: Divisions, each 70:15:15: UD at random, PS by position in the episode, UN by episodes; also
            `--splits UD PS`.
        ps_by: Assign clips to PS by their midpoint, or by row number, as in the release.
        negatives: Mine hard negatives, or sample random distractors as a baseline with the same exclusions.
        balance: Sample hard negatives that blind models cannot distinguish from correct options, or take those
            with the highest scores (none).
        style: Write balanced options in one style (initial capital, no full stop, no leading "because"), or as
            annotated.
        num_options: Number of options per question, including the correct one.
        top_k: Number of nearest questions whose answers are candidates.
        alpha: Weight of the cosine similarity of the questions in the recorded scores.
        beta: Factor for answers with a cosine similarity of at least `tau`.
        tau: Minimum cosine similarity to the correct answer at which `beta` applies.
        same_question: Cosine similarity at which two questions count as the same, so that they do not exchange
            answers. A value above 1 disables this rule.
        same_text: Cosine similarity at which two answers count as synonymous, so that they never appear in the
            same question. This also holds if one contains all content words of the other. Above 1, only equal
            words count.
        max_lend: Maximum number of times that an answer is used as a distractor, in multiples of its even share.
            Without a limit, the rarest option is often correct. 0 sets no limit, as in the release.
        ties: Order of equally scored candidates: random for each pair of questions (drawn), or by id, as in the
            release.
        confuse: Maximum number of distractors that causal_confusion replaces per question. 0 skips that config.
        twins: Confuse correct options and distractors alike, so that a counterpart reveals nothing; or only
            correct ones, as in the paper. `imitate_release` and `llm_model` imply right.
        cast: Names in addition to those found in the annotations: one per line, optionally with `, female` or `,
            male`.
        llm_base_url: URL of an OpenAI-compatible endpoint that writes the confusions.
        llm_model: Name of the model at the endpoint or, without `llm_base_url`, folder with a transformers model.
        title: Title of your dataset, for its card and Croissant file.
        licence: Licence of your data: an identifier of the Hugging Face Hub such as cc-by-4.0, or name and link
            of another, such as "other:my-terms-1.0 https://example.org/terms". `stressreel push` then asks for no
            confirmation.
        homepage: Web page of your data.
        cite: BibTeX file with the publications to cite for your data.
        description: Description of your data, of at most 2,000 characters.
        render: Cut the clips, or write only the other tables.
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        audio: Drop or keep the audio.
        seed: Random seed.
        split: Splits to build.
        limit: Build only the first N units by id, as a trial run.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            `max_skip`.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
        model: Sentence encoder: a folder, or a name on the Hub.
        pool: Take distractors from the question's own split, or from all questions, as in the release (which
            leaks). With `balance` none, answers that are correct in train are never distractors in other splits;
            balanced options also come from other splits, as often as correct ones occur there.
        imitate_release: Reproduce the options of the released CausalChaos: `balance` none `pool` all `tau` .75
            `rank_by` explanation `keep_apart=False` `same_text` 2 `max_lend` 0 `ties` id.
        rank_by: Score answers by their own cosine similarity, or by that of their explanations, as in the
            release.
        keep_apart: Exclude distractors from questions of the same group, or about the same moment of the video.
        apart_frames: Clips that are fewer than this many frames apart show the same moment (50 frames are about 2
            s).
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray
            cluster; auto uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share `out`, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of
            this split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for
            the estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.


    Returns:
        The output; with `dry_run`, the plan; for a `shard` that is not the last, what remains.

    Raises:
        InputError: An option is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos had to be skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    ...
@overload
def build_causal(*, dry_run: Literal[True], shard: str | None = None, **options: Unpack[_CausalOptions]) -> DryRun: ...
@overload
def build_causal(*, dry_run: Literal[False] = False, shard: str | None, **options: Unpack[_CausalOptions]) -> Output | Unfinished: ...
@overload
def build_causal(*, dry_run: bool, shard: str | None = None, **options: Unpack[_CausalOptions]) -> Output | DryRun | Unfinished: ...

class _ClaviOptions(TypedDict, total=False):
    charades: Path | str | None  # None
    causalchaos: Path | str | None  # None
    youcook2: Path | str | None  # None
    segments: Path | str | None  # None
    columns: str | Sequence[str]  # ()
    videos: Path | str | None  # None
    charades_sta: Path | str | None  # None
    source: Literal['actions', 'sta']  # 'actions'
    rules: Literal['released', 'paper']  # 'released'
    pairs: Path | str | Sequence[Path | str]  # ()
    phrases: Literal['turn', 'as-is']  # 'turn'
    split_shares: float | str | Sequence[float | str] | None  # None
    fps: float | None  # None
    shortest: float | None  # None
    longest: float | None  # None
    max_span: float | None  # None
    min_gap: float  # 0.0
    max_pairs_per_video: int | None  # None
    strict: bool  # False
    order: Literal['any', 'balanced', 'pairs']  # 'any'
    relations: str | Sequence[str]  # ('sequence',)
    cuts: Literal['release', 'balanced']  # 'release'
    wording: Literal['paper', 'natural']  # 'paper'
    paraphrases: int  # 1
    implied: Literal['keep', 'drop'] | None  # None
    same_by: Literal['auto', 'lemmas', 'sbert']  # 'auto'
    title: str | None  # None
    licence: str | None  # None
    homepage: str | None  # None
    cite: Path | str | None  # None
    description: str | None  # None
    render: bool  # True
    crf: int  # 23
    preset: Literal['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower', 'veryslow']  # 'veryfast'
    audio: Literal['drop', 'keep']  # 'drop'
    seed: int  # 0
    split: Literal['train', 'validation', 'test', 'all']  # 'all'
    limit: int | None  # None
    allow_missing: bool  # False
    max_skip: float  # 0.01
    version: str  # '1.3.0'
    out: Path | str | None  # None
    workers: int | None  # None
    executor: Literal['auto', 'inline', 'processes', 'ray']  # 'auto'
    ray_address: Path | str | None  # None
    withhold: Path | str | None  # None
    resume: bool  # True
    check_space: bool  # True
    progress: bool  # True

@overload
def build_clavi(*, dry_run: Literal[False] = False, shard: None = None, **options: Unpack[_ClaviOptions]) -> Output:
    """Build the CLAVI benchmark from Charades, or from any annotated segments.

    Each pair of actions yields two videos, the original segment and its complement with the two actions swapped,
    and 19 yes/no questions per video. The output is a Parquet dataset that datasets.load_dataset opens.

    Args:
        charades: Folder with the Charades annotations, or `sample` for the built-in sample.
        causalchaos: Annotations.csv of CausalChaos, to use the events of its questions.
        youcook2: youcookii_annotations_trainval.json of YouCook2, to use the steps of its recipes.
        segments: Your own segments: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video, start, end and
            phrase; a file of ActivityNet Captions, DiDeMo, QVHighlights, TACoS, TVR, HiREST, EPIC-Kitchens or
            COIN; or the word `sample`.
        columns: With `segments`: names of columns in your file that differ from the defaults, such as
            start=start_time.
        videos: Folder with the videos, if different from the folder with the annotations.
        charades_sta: Folder with charades_sta_train.txt and charades_sta_test.txt, if different from the folder
            with the annotations (for `source` sta).
        source: Segments of Charades: its action classes, or the sentences of Charades-STA.
        rules: Rules for selecting pairs from Charades: those of the released benchmark, or the literal rules of
            the paper.
        pairs: Released train_annotations.json or test_annotations.json, to rebuild exactly these pairs; may be
            repeated.
        phrases: Convert the phrases of `segments` to gerund phrases, which the questions need (turn), or use them
            unchanged.
        split_shares: Shares of train, validation and test, such as .8,.1,.1, by which the videos of `segments`
            are assigned to splits at random. The file must have no column split.
        fps: Frame rate of all episodes with `causalchaos` (default: the rate of each video, or 25 if it is
            missing), or of the videos with `segments` if times are given as frame numbers.
        shortest: Minimum duration of an action, in seconds.
        longest: Maximum duration of an action, in seconds.
        max_span: Maximum time from the start of A to the end of B, in seconds.
        min_gap: Minimum time from the end of A to the start of B, in seconds.
        max_pairs_per_video: Maximum number of pairs per source video, sampled from its entire duration.
        strict: Drop pairs whose action A or B (verb and objects) also occurs elsewhere in the source video.
        order: Drop pairs until every phrase class (verb, or Charades class) occurs first as often as second
            (balanced), or until this holds for each pair of classes (pairs).
        relations: Which pairs of Charades to use: sequence (A before B), overlap and contain (A around B),
            separated by commas.
        cuts: balanced: cut V and V′ at the same three times, by swapping the halves of the filler in both and
            showing equal lengths of A and B, so that the cuts do not distinguish them.
        wording: Word the questions as in the paper, or in natural English with a wording sampled for each
            question.
        paraphrases: Number of wordings of each question (with `wording` natural).
        implied: Keep control questions about an action that another one implies, such as grasping a doorknob
            while a door is opened, or drop them: sample another negative control, and leave out questions with
            `while`.
        same_by: How to compare the meanings of phrases: by the lemmas of the verb and its objects, or also by
            sentence embeddings; auto uses embeddings if sentence-transformers is installed.
        title: Title of your dataset, for its card and Croissant file.
        licence: Licence of your data: an identifier of the Hugging Face Hub such as cc-by-4.0, or name and link
            of another, such as "other:my-terms-1.0 https://example.org/terms". `stressreel push` then asks for no
            confirmation.
        homepage: Web page of your data.
        cite: BibTeX file with the publications to cite for your data.
        description: Description of your data, of at most 2,000 characters.
        render: Render the videos, or write only the questions and pairs.
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        audio: Drop the audio, or cut and reorder it with the video.
        seed: Random seed.
        split: Splits to build.
        limit: Build only the first N units by id, as a trial run.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            `max_skip`.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray
            cluster; auto uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share `out`, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of
            this split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for
            the estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.


    Returns:
        The output; with `dry_run`, the plan; for a `shard` that is not the last, what remains.

    Raises:
        InputError: An option is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos had to be skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    ...
@overload
def build_clavi(*, dry_run: Literal[True], shard: str | None = None, **options: Unpack[_ClaviOptions]) -> DryRun: ...
@overload
def build_clavi(*, dry_run: Literal[False] = False, shard: str | None, **options: Unpack[_ClaviOptions]) -> Output | Unfinished: ...
@overload
def build_clavi(*, dry_run: bool, shard: str | None = None, **options: Unpack[_ClaviOptions]) -> Output | DryRun | Unfinished: ...

class _DecompOptions(TypedDict, total=False):
    charades: Path | str | None  # None
    agqa: Path | str | None  # None
    release_hierarchies: Path | str | None  # None
    graphs: Path | str | None  # None
    action_genome: Path | str | None  # None
    videos: Path | str | None  # None
    embed: Literal['auto', 'yes', 'no']  # 'auto'
    wording: Literal['ours', 'engine']  # 'ours'
    max_questions_per_video: int  # 40
    seed: int  # 0
    split: Literal['train', 'test', 'all']  # 'all'
    limit: int | None  # None
    allow_missing: bool  # False
    max_skip: float  # 0.01
    version: str  # '1.3.0'
    out: Path | str | None  # None
    workers: int | None  # None
    executor: Literal['auto', 'inline', 'processes', 'ray']  # 'auto'
    ray_address: Path | str | None  # None
    withhold: Path | str | None  # None
    resume: bool  # True
    check_space: bool  # True
    progress: bool  # True

@overload
def build_decomp(*, dry_run: Literal[False] = False, shard: None = None, **options: Unpack[_DecompOptions]) -> Output:
    """Decompose compositional questions about videos into graphs of sub-questions.

    The questions are AGQA's, or are generated from Charades' actions; published graphs can also be read. In a
    graph, parents are composed of their children, so scores show where a model's answer goes wrong and where it
    contradicts itself.

    Args:
        charades: Folder with the Charades annotations from which to generate questions, or `sample` for the
            built-in sample.
        agqa: Folder with train_balanced.txt and test_balanced.txt of AGQA 2.0, or one of these files.
        release_hierarchies: Folder with the hierarchies published with AGQA-Decomp: the <video>.json files of one
            split, or both splits.
        graphs: Scene graphs of AGQA for answering sub-questions: AGQA_{train,test}_stsgs.pkl, or the folder with
            both files.
        action_genome: Folder with the Action Genome annotations, which add contact and spatial relations to the
            actions of Charades.
        videos: Folder with the videos, if different from the folder with the annotations.
        embed: Store the videos in the dataset, or only their ids. auto stores only the videos of the built-in
            sample.
        wording: Wording of sub-questions: ours, or that of the AGQA-Decomp authors' engine. Roots keep their
            wording.
        max_questions_per_video: Maximum number of generated questions per video, sampled from all templates.
        seed: Random seed.
        split: Splits to build.
        limit: Use only the first N videos by id, for trial runs. Generated questions are balanced over these
            videos, or over the first 200 if N is smaller.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            `max_skip`.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray
            cluster; auto uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share `out`, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of
            this split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for
            the estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.


    Returns:
        The output; with `dry_run`, the plan; for a `shard` that is not the last, what remains.

    Raises:
        InputError: An option is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos had to be skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    ...
@overload
def build_decomp(*, dry_run: Literal[True], shard: str | None = None, **options: Unpack[_DecompOptions]) -> DryRun: ...
@overload
def build_decomp(*, dry_run: Literal[False] = False, shard: str | None, **options: Unpack[_DecompOptions]) -> Output | Unfinished: ...
@overload
def build_decomp(*, dry_run: bool, shard: str | None = None, **options: Unpack[_DecompOptions]) -> Output | DryRun | Unfinished: ...

class _PerturbedOptions(TypedDict, total=False):
    msrvtt: Path | str | None  # None
    youcook2: Path | str | None  # None
    captions: Path | str | None  # None
    columns: str | Sequence[str]  # ()
    videos: Path | str | None  # None
    perturbations: str | Sequence[str]  # ('all',)
    severity: int | str | Sequence[int | str]  # (1, 2, 3, 4, 5)
    clip_first: bool  # False
    render: bool  # True
    lossless: bool  # False
    crf: int  # 23
    preset: Literal['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower', 'veryslow']  # 'veryfast'
    modality: Literal['video', 'text', 'multimodal', 'all']  # 'video'
    text_perturbations: str | Sequence[str]  # ()
    pairs: str | Sequence[str]  # ()
    caption_style: Literal['declarative', 'imperative', 'auto'] | None  # None
    text_mode: Literal['stressreel', 'released']  # 'stressreel'
    mlm: Path | str | None  # None
    translate: tuple[Path | str, Path | str] | None  # None
    glove: Path | str | None  # None
    sbert: Path | str | None  # None
    title: str | None  # None
    licence: str | None  # None
    homepage: str | None  # None
    cite: Path | str | None  # None
    description: str | None  # None
    seed: int  # 0
    split: Literal['train', 'validation', 'test', 'all']  # 'all'
    limit: int | None  # None
    allow_missing: bool  # False
    max_skip: float  # 0.01
    version: str  # '1.3.0'
    out: Path | str | None  # None
    workers: int | None  # None
    executor: Literal['auto', 'inline', 'processes', 'ray']  # 'auto'
    ray_address: Path | str | None  # None
    withhold: Path | str | None  # None
    resume: bool  # True
    check_space: bool  # True
    progress: bool  # True

@overload
def build_perturbed(*, dry_run: Literal[False] = False, shard: None = None, **options: Unpack[_PerturbedOptions]) -> Output:
    """Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.

    Each perturbation becomes a config of a Parquet dataset that datasets.load_dataset opens, next to the config
    `clean`. Combinations are rows of the config `multimodal`, each naming a clip and a caption of the other
    configs. By default only the visual half is built; see `modality`. `split` all means the benchmark's own
    split: test of MSR-VTT, validation of YouCook2.

    Args:
        msrvtt: Folder or file with the MSR-VTT annotations, or `sample` for the built-in sample.
        youcook2: Folder with the YouCook2 annotations.
        captions: Captions of another dataset: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video,
            caption and, optionally, start, end, id, split; or a file of a dataset that build-clavi `segments`
            reads.
        columns: With `captions`: names of columns in your file that differ from the defaults, such as
            video=video_id.
        videos: Folder with the videos, if different from the folder with the annotations.
        perturbations: Visual perturbations, separated by commas: names, families (noise, blur, camera, digital,
            temporal) or all.
        severity: Severities, such as 3, 1-5 or 1,3,5.
        clip_first: Cut clips from their source before perturbing them. By default, the whole source is perturbed
            first.
        render: Render the videos, or write only the recipes.
        lossless: Encode the perturbed RGB frames losslessly (large files).
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        modality: Perturb videos, captions (text), both for the combinations (multimodal), or all of these.
        text_perturbations: Text perturbations, separated by commas: names, families (add_text, bias, change_char,
            drop_text, positional, swap_text, text_style) or all.
        pairs: Combinations of a visual and a text perturbation, such as jpeg:no_verbs,jumble:typos.
        caption_style: Grammatical form of the captions: statements and noun phrases (declarative), instructions
            (imperative), or detected for each caption (auto).
        text_mode: Word tables and part-of-speech tags: stressreel's own, or those of the released code, including
            their errors.
        mlm: Masked language model for mlm_suggestion: a folder, or a name on the Hub.
        translate: Two translation models for back_trans, one for each direction: folders, or names on the Hub.
        glove: File with GloVe vectors for swap_syn_word_embedding.
        sbert: Sentence-transformers model: a folder, or a name on the Hub.
        title: Title of your dataset, for its card and Croissant file.
        licence: Licence of your data: an identifier of the Hugging Face Hub such as cc-by-4.0, or name and link
            of another, such as "other:my-terms-1.0 https://example.org/terms". `stressreel push` then asks for no
            confirmation.
        homepage: Web page of your data.
        cite: BibTeX file with the publications to cite for your data.
        description: Description of your data, of at most 2,000 characters.
        seed: Random seed.
        split: Splits to build.
        limit: Build only the first N units by id, as a trial run.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            `max_skip`.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray
            cluster; auto uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share `out`, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of
            this split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for
            the estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.


    Returns:
        The output; with `dry_run`, the plan; for a `shard` that is not the last, what remains.

    Raises:
        InputError: An option is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos had to be skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    ...
@overload
def build_perturbed(*, dry_run: Literal[True], shard: str | None = None, **options: Unpack[_PerturbedOptions]) -> DryRun: ...
@overload
def build_perturbed(*, dry_run: Literal[False] = False, shard: str | None, **options: Unpack[_PerturbedOptions]) -> Output | Unfinished: ...
@overload
def build_perturbed(*, dry_run: bool, shard: str | None = None, **options: Unpack[_PerturbedOptions]) -> Output | DryRun | Unfinished: ...

def mine(
    questions: Path | str,
    *,
    out: Path | str | None = None,
    columns: str | Sequence[str] = (),
    negatives: Literal['hard', 'random'] = 'hard',
    balance: Literal['strict', 'none'] = 'strict',
    style: Literal['one', 'keep'] = 'one',
    num_options: int = 5,
    top_k: int = 10,
    alpha: float = 1.0,
    beta: float = 0.001,
    tau: float = 0.85,
    same_question: float = 0.9,
    same_text: float = 0.9,
    max_lend: float = 1.2,
    ties: Literal['drawn', 'id'] = 'drawn',
    train_split: Path | str | None = None,
    seed: int = 0,
    review: Path | str | None = None,
    review_count: int = 100,
    progress: bool = True,
    model: Path | str | None = None,
    pool: Literal['split', 'all'] = 'split',
    imitate_release: bool = False,
    rank_by: Literal['own', 'explanation'] = 'own',
    keep_apart: bool = True,
    apart_frames: int = 50,
) -> MinedQuestions:
    """Find distractors for each question among the answers to similar questions.

    Distractors differ in meaning from the correct option. Every question is written with its options in random
    order, the index of the correct option, and the source of each option. Explanations, if any, have options of
    their own.

    Args:
        questions: CSV or JSON Lines with id, question, answer and, optionally, explanation, group and split;
            Annotations.csv of CausalChaos; or `sample` for the built-in sample.
        out: Output file (.jsonl or .parquet).
        columns: Names of columns in your file that differ from the defaults, such as question=Q,answer=A.
        negatives: Mine hard negatives, or sample random distractors as a baseline with the same exclusions.
        balance: Sample hard negatives that blind models cannot distinguish from correct options, or take those
            with the highest scores (none).
        style: Write balanced options in one style (initial capital, no full stop, no leading "because"), or as
            annotated.
        num_options: Number of options per question, including the correct one.
        top_k: Number of nearest questions whose answers are candidates.
        alpha: Weight of the cosine similarity of the questions in the recorded scores.
        beta: Factor for answers with a cosine similarity of at least `tau`.
        tau: Minimum cosine similarity to the correct answer at which `beta` applies.
        same_question: Cosine similarity at which two questions count as the same, so that they do not exchange
            answers. A value above 1 disables this rule.
        same_text: Cosine similarity at which two answers count as synonymous, so that they never appear in the
            same question. This also holds if one contains all content words of the other. Above 1, only equal
            words count.
        max_lend: Maximum number of times that an answer is used as a distractor, in multiples of its even share.
            Without a limit, the rarest option is often correct. 0 sets no limit, as in the release.
        ties: Order of equally scored candidates: random for each pair of questions (drawn), or by id, as in the
            release.
        train_split: Split whose correct answers are never distractors in other splits (with `pool` split).
        seed: Seed of all random choices.
        review: CSV file in which to save a sample of questions with their options, to check that no distractor is
            correct.
        review_count: Number of questions in the `review` file.
        progress: Show a progress bar.
        model: Sentence encoder: a folder, or a name on the Hub.
        pool: Take distractors from the question's own split, or from all questions, as in the release (which
            leaks). With `balance` none, answers that are correct in train are never distractors in other splits;
            balanced options also come from other splits, as often as correct ones occur there.
        imitate_release: Reproduce the options of the released CausalChaos: `balance` none `pool` all `tau` .75
            `rank_by` explanation `keep_apart=False` `same_text` 2 `max_lend` 0 `ties` id.
        rank_by: Score answers by their own cosine similarity, or by that of their explanations, as in the
            release.
        keep_apart: Exclude distractors from questions of the same group, or about the same moment of the video.
        apart_frames: Clips that are fewer than this many frames apart show the same moment (50 frames are about 2
            s).


    Raises:
        UsageError: An option or its value is not allowed, or a file does not exist.
        InputError: The questions cannot be read, or there are too few distractors.
        OutputError: A file cannot be written.
    """
    ...
